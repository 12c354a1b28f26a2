"""Who does best, and how sure that is."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field

import numpy as np
import pandas as pd

from experiments.analysis.ties import equalised

#: Probability from which the Bayesian test counts as decided.
SURE = 0.95

_PROBABILITIES = ["ranker", "p_better", "p_equal", "p_worse", "datasets"]


@dataclass(frozen=True)
class Verdict:
    """What average ranks and posteriors say of the best ranker.

    Attributes
    ----------
    best : tuple of str
        Rankers with the lowest average rank; several when they share it, none when there is nothing to rank.
    one : bool
        Whether the best are one ranker, under one name or several.
    average_rank : float
        Theirs; NaN for none.
    runner_up : str or None
        Who comes next, and ``runner_up_rank``.
    n_rankers, n_datasets : int
        In the ranking.
    critical_distance : float
        NaN for none.
    significantly_different : tuple of str
        Rankers whose average rank differs from the best one's by at least the critical distance.
    surely_beaten, surely_equal : tuple of str
        Rankers than which the best one is better, to which it is practically equal, with probability above
        :data:`SURE`.
    surely_better : tuple of str
        Those that are better than the best one by rank, with that probability.
    untested : tuple of str
        Those without a posterior.
    probabilities : DataFrame
        ``ranker``, ``p_better`` (the best one is), ``p_equal``, ``p_worse``, ``datasets``; for every ranker it was
        tested against, in the order of ranks. Empty when several rankers share the best rank.
    """

    best: tuple[str, ...] = ()
    one: bool = False
    average_rank: float = np.nan
    runner_up: str | None = None
    runner_up_rank: float = np.nan
    n_rankers: int = 0
    n_datasets: int = 0
    critical_distance: float = np.nan
    significantly_different: tuple[str, ...] = ()
    surely_beaten: tuple[str, ...] = ()
    surely_equal: tuple[str, ...] = ()
    surely_better: tuple[str, ...] = ()
    untested: tuple[str, ...] = ()
    probabilities: pd.DataFrame = field(default_factory=lambda: pd.DataFrame(columns=_PROBABILITIES))


def verdict(
    average_ranks: pd.Series,
    *,
    n_datasets: int,
    critical_distance: float = np.nan,
    pairs: pd.DataFrame | None = None,
    same: Sequence[Sequence[str]] = (),
) -> Verdict:
    """Say who does best by average rank, and how sure that is."""
    ranks = average_ranks.dropna().sort_values(kind="stable")
    if not len(ranks) or n_datasets < 1:
        return Verdict()
    lowest = float(ranks.iloc[0])
    best = tuple(ranks.index[equalised(ranks) == equalised(ranks)[0]])
    others = ranks.drop(list(best))
    beyond = (others - lowest).ge(critical_distance)  # nothing is beyond NaN
    one = len(best) == 1 or any(set(best) <= set(group) for group in same)
    against = probabilities(best[0], list(others.index), pairs) if one else None
    groups = _sure(against) if against is not None else {}
    tested = set() if against is None else set(against["ranker"])
    return Verdict(
        best=best,
        one=one,
        average_rank=lowest,
        runner_up=str(others.index[0]) if len(others) else None,
        runner_up_rank=float(others.iloc[0]) if len(others) else np.nan,
        n_rankers=len(ranks),
        n_datasets=n_datasets,
        critical_distance=critical_distance,
        significantly_different=tuple(others.index[beyond.to_numpy(dtype=bool)]),
        untested=tuple(ranker for ranker in others.index if ranker not in tested),
        **groups,
        **({} if against is None else {"probabilities": against}),
    )


def probabilities(ranker: str, others: Sequence[str], pairs: pd.DataFrame | None) -> pd.DataFrame:
    """Turn posteriors of pairs round so that one ranker stands first.

    ``ranker`` (the other), ``p_better``, ``p_equal``, ``p_worse`` (the one against it), ``datasets``. Pairs
    that were not tested are left out.
    """
    found = {}
    for line in () if pairs is None else pairs.itertuples():
        if ranker == line.ranker_a and not np.isnan(line.p_rope):
            found[line.ranker_b] = (line.p_a, line.p_rope, line.p_b, line.n_datasets)
        elif ranker == line.ranker_b and not np.isnan(line.p_rope):
            found[line.ranker_a] = (line.p_b, line.p_rope, line.p_a, line.n_datasets)
    lines = [(other, *found[other]) for other in others if other in found]
    return pd.DataFrame(lines, columns=_PROBABILITIES)


def _sure(against: pd.DataFrame) -> dict[str, tuple[str, ...]]:
    decided = against[["p_better", "p_equal", "p_worse"]].gt(SURE)

    def named(mask: pd.Series) -> tuple[str, ...]:
        return tuple(against.loc[mask, "ranker"])

    return {
        "surely_beaten": named(decided["p_better"]),
        "surely_equal": named(decided["p_equal"]),
        "surely_better": named(decided["p_worse"]),
    }
