"""What the paper claims in numbers, as checks on rows.

Each claim is stated with its place in the paper and with how it is read here, since few of the paper's
sentences say which number they mean. A check answers "holds" or "does not hold" only when every cell is there
that the paper's own study had: a cell that was stopped by its limit of time or memory counts as there (some of
the paper's did not finish either), one that was not run or failed does not.
"""

from __future__ import annotations

import itertools
from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from typing import Any

import pandas as pd

from experiments.analysis.comparison import Comparison, compare
from experiments.analysis.groups import Group
from experiments.analysis.stand_ins import STAND_INS

#: The paper's data sets and rankers, under the names they bear here.
MCC_DATASETS = (
    *(
        "chess",
        "biodeg_p2_discrete",
        "optdigits",
        "madelon",
        "har",
        "pd_speech_features",
        "dlbcl",
        "tumors_c",
    ),
    *("ap_ovary_kidney", "ohscal", "genes"),
)
MLC_DATASETS = (
    *(
        "delicious",
        "imdb",
        "medical",
        "bibtex",
        "education1",
        "health1",
        "entertainment1",
        "science1",
        "social1",
    ),
)
RELIEFE = ("reliefe", "reliefe_absmean", "reliefe_adaptive", "reliefe_absmean_adaptive")
RELIEFF = ("relieff", "relieff_absmean", "relieff_adaptive", "relieff_absmean_adaptive")
SURF = ("skrebate_surf", "skrebate_multisurf", "skrebate_multisurf_star")
MCC_RANKERS = (*RELIEFE, *RELIEFF, "skrebate_relieff", *SURF, "random_forest", "mutual_information")
DISTANCES = ("f1", "accuracy", "subset", "hamming", "cosine", "hyperbolic")


def of_labels(names: Sequence[str], distances: Sequence[str] = DISTANCES) -> tuple[str, ...]:
    """Name rankers of labels: every ranker with every target distance.

    Parameters
    ----------
    names : sequence of str
        Rankers.
    distances : sequence of str, default=DISTANCES
        Target distances.

    Returns
    -------
    tuple of str
    """
    return tuple(f"{name}_{distance}" for name in names for distance in distances)


MLC_RANKERS = of_labels((*RELIEFE, *RELIEFF))

HOLDS, HOLDS_NOT, UNDECIDED = "holds", "does not hold", "cannot be decided"

#: Cells that ended without a number, as the paper's own did.
_SETTLED = ("timeout", "out_of_memory")
_MOST_TOLD = 12


class NotThereError(Exception):
    """Raised by a check that finds nothing to look at; the text says what it would need."""


@dataclass(frozen=True)
class Evidence:
    """What a check looks at.

    Attributes
    ----------
    comparison : Comparison or None
        Of the rankings that the claim is about.
    measured : DataFrame
        Spread measurements of the claim's kind; empty for claims about rankings.
    frame : DataFrame
        All rows.
    """

    comparison: Comparison | None
    measured: pd.DataFrame
    frame: pd.DataFrame

    @property
    def rankings(self) -> Comparison:
        """The comparison, which a claim about rankings always has."""
        if self.comparison is None:
            raise NotThereError("rankings")
        return self.comparison

    def label(self, ranker: str) -> str:
        """Name a ranker for people."""
        return self.rankings.labels.get(ranker, ranker)

    def ranks(self, measure: str) -> pd.Series:
        """Return average ranks, best first."""
        found = self.rankings.ranks[measure]
        if found is None:
            raise NotThereError(self.rankings.rank_reasons[measure])
        return found.average_ranks

    def averages(self, measure: str) -> pd.DataFrame:
        """Return means over common data sets, best first."""
        found = self.rankings.averages[measure]
        if not len(found):
            raise NotThereError("two complete rankers on one data set")
        return found

    def scores(self, measure: str, dataset: str | None = None) -> Any:
        """Return data sets × rankers, or the line of one data set without what is missing."""
        table = self.rankings.scores[measure]
        if dataset is None:
            return table
        if dataset not in table.index or not table.loc[dataset].notna().any():
            raise NotThereError(f"a complete ranker on {dataset}")
        return table.loc[dataset].dropna()

    def posterior(self, a: str, b: str) -> tuple[float, float, float]:
        """Return the probabilities that a is better, that there is no difference, that b is better."""
        if self.rankings.posterior is None:
            raise NotThereError("the hierarchical Bayesian test")
        # The same pair may have been tested with skrebate's ranker and with the one that stands for it.
        found = [
            (self.rankings.posterior.n_datasets(one, other), self.rankings.posterior.of(one, other))
            for one, other in itertools.product(_names(a), _names(b))
        ]
        found = [each for each in found if each[1][0] == each[1][0]]
        if not found:
            raise NotThereError(f"a posterior of {self.label(a)} and {self.label(b)}")
        return max(found, key=lambda each: each[0])[1]


def _names(ranker: str) -> tuple[str, ...]:
    return (ranker, STAND_INS[ranker]) if ranker in STAND_INS else (ranker,)


@dataclass(frozen=True)
class Claim:
    """One claim.

    Attributes
    ----------
    key : str
        Short name.
    about : str
        What its rows are: "mcc", "mlc", "convergence" or the kind of a measurement.
    place : str
        Where in the paper.
    statement : str
        What the paper says, in our words.
    reading : str
        What is checked.
    check : callable
        Evidence → (whether it holds, numbers in words); raises :class:`NotThereError`.
    datasets, rankers : tuple of str
        The cells that it needs.
    times : bool
        Whether it is about times: cells without them do not count.
    stand_ins : bool
        Whether :data:`STAND_INS` may take the place of skrebate's rankers: not for times, nor for what comes to an
        end.
    """

    key: str
    about: str
    place: str
    statement: str
    reading: str
    check: Callable[[Evidence], tuple[bool, str]]
    datasets: tuple[str, ...] = ()
    rankers: tuple[str, ...] = ()
    times: bool = False
    stand_ins: bool = True


def all_claims() -> list[Claim]:
    """Return every claim, in the order of the paper.

    Returns
    -------
    list of Claim
    """
    from experiments.analysis import claims_mcc, claims_mlc, claims_side

    return [*claims_mcc.CLAIMS, *claims_mlc.CLAIMS, *claims_side.CLAIMS]


def check(
    comparisons: Sequence[Comparison],
    frame: pd.DataFrame,
    measured: dict[str, pd.DataFrame] | None = None,
    claims: Sequence[Claim] | None = None,
) -> pd.DataFrame:
    """Check the claims that a study is about.

    Parameters
    ----------
    comparisons : sequence of Comparison
        Of the study's groups.
    frame : DataFrame
        Rows.
    measured : dict of str to DataFrame, optional
        Kind of measurement → :func:`experiments.analysis.measurements.points`, for the kinds that the study asks
        for.
    claims : sequence of Claim, optional
        All by default.

    Returns
    -------
    DataFrame
        One line per claim: ``about``, ``claim``, ``place``, ``statement``, ``reading``, ``verdict`` ("holds",
        "does not hold" or "cannot be decided"), ``evidence`` (numbers in words; for claims that cannot be decided
        what the cells that are there say), ``missing`` (cells, in words; "" when there is a verdict). Claims about
        rows that the study does not ask for are left out.
    """
    measured = measured or {}
    given = [_of_the_paper(each, frame, set()) for each in comparisons]
    substituted: list[set[tuple[str, str]]] = [_substituted(each) for each in comparisons]
    filled = [
        _of_the_paper(each, frame, cells) if cells else as_run
        for each, as_run, cells in zip(comparisons, given, substituted, strict=True)
    ]
    lines = []
    for claim in all_claims() if claims is None else claims:
        place = next((place for place, each in enumerate(given) if _is_about(claim, each)), None)
        used = filled if claim.stand_ins and not claim.times else given
        comparison = None if place is None else used[place]
        if comparison is None and claim.about not in measured:
            continue
        spread = measured.get(claim.about, pd.DataFrame())
        if len(spread):  # as with rankings: other data sets are none of the paper's
            spread = spread[spread["dataset"].isin(claim.datasets)]
        if comparison is not None:
            missing, some = _missing(claim, comparison)
        else:
            missing, some = _unmeasured(claim, spread)
        holds, evidence = None, ""
        if some:  # numbers of other data sets are no evidence
            try:
                holds, evidence = claim.check(Evidence(comparison, spread, frame))
            except NotThereError as error:
                missing = missing or f"needed: {error}"
        if missing:
            verdict = UNDECIDED
            evidence = f"so far it {HOLDS if holds else HOLDS_NOT}: {evidence}" if evidence else ""
        else:
            verdict = HOLDS if holds else HOLDS_NOT
        if evidence and comparison is not None:
            evidence += _protocol(claim, comparison)
            if used is filled and any(_own(name) in claim.rankers for _, name in substituted[place]):
                evidence += " (ours as skrebate's stand for skrebate's)"
        lines.append(
            [claim.about, claim.key, claim.place, claim.statement, claim.reading, verdict, evidence, missing]
        )
    columns = ["about", "claim", "place", "statement", "reading", "verdict", "evidence", "missing"]
    return pd.DataFrame(lines, columns=columns)


def _own(stand_in: str) -> str:
    return next(own for own, other in STAND_INS.items() if other == stand_in)


def _substituted(comparison: Comparison) -> set[tuple[str, str]]:
    """Choose the cells (data set, stand-in) that count in the place of skrebate's, which were not run."""
    if comparison.group.varies_iterations:
        return set()
    cells = comparison.summary[["dataset", "ranker", "complete"]].itertuples(index=False, name=None)
    complete = {(dataset, ranker): whole for dataset, ranker, whole in cells}
    missing = comparison.missing[["dataset", "ranker", "state"]].itertuples(index=False, name=None)
    settled = {(dataset, ranker) for dataset, ranker, state in missing if state in _SETTLED}
    return {
        (dataset, ranker)
        for dataset, ranker in complete
        if ranker in STAND_INS.values()
        and not complete.get((dataset, _own(ranker)))
        and (dataset, _own(ranker)) not in settled
        and (complete[dataset, ranker] or (dataset, _own(ranker)) not in complete)
    }


def _of_the_paper(comparison: Comparison, frame: pd.DataFrame, stand_ins: set[tuple[str, str]]) -> Comparison:
    """Leave out data sets and rankers that the paper's study does not have: ranks and means depend on them."""
    group = comparison.group
    if group.varies_iterations:
        return comparison
    asked_for = group.expected
    if stand_ins:
        frame, group = _renamed(frame, group, stand_ins)
    datasets, rankers = {
        "multiclass": (MCC_DATASETS, MCC_RANKERS),
        "multilabel": (MLC_DATASETS, MLC_RANKERS),
    }[group.task]
    asked = group.expected
    kept = asked[asked["dataset"].isin(datasets) & asked["ranker"].isin(rankers)].reset_index(drop=True)
    if not len(kept) or (len(kept) == len(asked) and not stand_ins):
        return comparison
    # Posteriors are of all data sets that were tested, so those of a study with others do not count.
    same = set(kept["dataset"]) == set(asked_for["dataset"])
    posterior = comparison.posterior if same else None
    return compare(frame, replace(group, expected=kept), posterior=posterior)


def _renamed(frame: pd.DataFrame, group: Group, cells: set[tuple[str, str]]) -> tuple[pd.DataFrame, Group]:
    """Put stand-ins under the names of skrebate's rankers, without their times."""
    given = {(dataset, stand_in): _own(stand_in) for dataset, stand_in in cells}
    replaced = {(dataset, own) for (dataset, _), own in given.items()}

    def renamed(table: pd.DataFrame, inside: pd.Series) -> pd.DataFrame:
        names = pd.Series(list(zip(table["dataset"], table["ranker"], strict=True)), index=table.index)
        table = table[~(inside & names.isin(replaced))].copy()
        stand_in = inside[table.index] & names[table.index].isin(list(given))
        table.loc[stand_in, "ranker"] = names[stand_in[stand_in].index].map(given)
        if "fit_seconds" in table:
            table.loc[stand_in, "fit_seconds"] = None
        return table

    expected = renamed(group.expected, pd.Series(True, index=group.expected.index)).reset_index(drop=True)
    labels = {
        **dict(zip(expected["ranker"], expected["display_name"], strict=True)),
        **{name: label for name, label in group.labels.items() if name in set(expected["ranker"])},
    }
    frame = renamed(frame, frame["protocol"] == group.protocol)
    return frame, replace(group, expected=expected, labels=labels)


def _is_about(claim: Claim, comparison: Comparison) -> bool:
    group = comparison.group
    about = {"multiclass": "mcc", "multilabel": "mlc"}[group.task]
    return claim.about == ("convergence" if group.varies_iterations else about)


#: Folds and repeats of the paper's studies.
_PAPER_EXTENT = {"mcc": (10, 10), "mlc": (10, 10), "convergence": (3, 1)}


def _protocol(claim: Claim, comparison: Comparison) -> str:
    first = comparison.group.expected.iloc[0]
    here = (int(first["n_splits"]), int(first["n_repeats"]))
    paper, max_rows = _PAPER_EXTENT[claim.about], comparison.group.max_rows
    if here == paper and max_rows is None:
        return ""
    rows = "" if max_rows is None else f" on at most {max_rows:,} rows"
    return f" (here {here[0]} folds × {here[1]}{rows}, in the paper {paper[0]} × {paper[1]})"


def _missing(claim: Claim, comparison: Comparison) -> tuple[str, bool]:
    """Say which cells are missing, and whether what is there says anything."""
    summed, states = (
        comparison.summary,
        comparison.missing.set_index(["dataset", "ranker"])["state"].to_dict(),
    )
    there = set(summed.loc[summed["complete"], ["dataset", "ranker"]].itertuples(index=False, name=None))
    there |= {cell for cell, state in states.items() if state in _SETTLED}
    lacking: dict[str, list[str]] = {}
    for dataset in claim.datasets:
        lacking[dataset] = [ranker for ranker in claim.rankers if (dataset, ranker) not in there]
    whole = [dataset for dataset, rankers in lacking.items() if len(rankers) == len(claim.rankers)]
    parts = [f"{', '.join(whole)} (every ranker)"] if whole else []
    rest = {dataset: rankers for dataset, rankers in lacking.items() if dataset not in whole}
    parts += _cells(rest, comparison)
    if claim.times:
        seconds = comparison.scores["fit_seconds"]
        untimed = {
            dataset: [
                ranker
                for ranker in claim.rankers
                if (dataset, ranker) in there
                and states.get((dataset, ranker)) not in _SETTLED
                and not (dataset in seconds.index and pd.notna(seconds.get(ranker, pd.Series()).get(dataset)))
            ]
            for dataset in rest
        }
        parts += [f"times of {each}" for each in _cells(untimed, comparison)]
    if comparison.group.varies_iterations:
        return "; ".join(parts), len(whole) < len(claim.datasets)
    # A rank, or the best, among some of the paper's rankers says nothing of that among all of them.
    return "; ".join(parts), any(not rankers for rankers in lacking.values())


def _cells(lacking: dict[str, list[str]], comparison: Comparison) -> list[str]:
    """Name cells; rankers that lack the same data sets stand together."""
    of_ranker: dict[str, list[str]] = {}
    for dataset, rankers in lacking.items():
        for ranker in rankers:
            of_ranker.setdefault(ranker, []).append(dataset)
    alike: dict[tuple[str, ...], list[str]] = {}
    for ranker, datasets in of_ranker.items():
        alike.setdefault(tuple(datasets), []).append(comparison.labels.get(ranker, ranker))
    parts = []
    for datasets, names in alike.items():
        told = names if len(names) <= _MOST_TOLD else [*names[:_MOST_TOLD], f"{len(names) - _MOST_TOLD} more"]
        parts.append(f"{', '.join(datasets)} × {', '.join(told)}")
    return parts


def shared_missing(missing: Sequence[str]) -> tuple[str, list[str]]:
    """Take out of what claims lack what most of them lack, so that it can be said once.

    Parameters
    ----------
    missing : sequence of str
        The column ``missing`` of :func:`check`.

    Returns
    -------
    shared : str
        What at least half of the claims that lack something lack, and more than one; "" for nothing.
    own : list of str
        For each claim: "" where it lacks nothing or just that, "also …" where it lacks more, else all that it
        lacks.
    """
    split = [each.split("; ") if each else [] for each in missing]
    n_lacking = sum(bool(parts) for parts in split)
    counts = Counter(part for parts in split for part in parts)
    known = [part for part, n in counts.items() if n >= max(2, n_lacking / 2)]
    own = []
    for parts in split:
        more = [part for part in parts if part not in known]
        if known and set(known) <= set(parts):
            own.append(f"also {'; '.join(more)}" if more else "")
        else:
            own.append("; ".join(parts))
    return "; ".join(known), own


def _unmeasured(claim: Claim, spread: pd.DataFrame) -> tuple[str, bool]:
    there = set(spread["dataset"]) if len(spread) else set()
    missing = [dataset for dataset in claim.datasets if dataset not in there]
    return ", ".join(missing), len(missing) < len(claim.datasets)
