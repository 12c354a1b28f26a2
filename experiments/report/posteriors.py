"""Posteriors of pairs of rankers: sampled once, kept beside the tables."""

from __future__ import annotations

import io
import zipfile
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd

from experiments.analysis.groups import Group
from experiments.analysis.pairs import ROPE, Pair, Posteriors, pairs_of, posteriors_of
from experiments.analysis.scores import complete_rows
from experiments.files import file_stem, write_whole

#: Draws of a pair that are kept for its triangle.
_KEPT = 1000
_SEED = 0
_NUMBERS = ("r_hat", "ess", "divergences", "n_draws")


def sampled(
    frame: pd.DataFrame,
    group: Group,
    results: Path,
    *,
    say: Callable[[str], None] = lambda text: None,
    most: int = 91,
) -> Posteriors | None:
    """Return the posteriors of a group's pairs; sample only those that are not kept from an earlier report.

    Parameters
    ----------
    frame : DataFrame
        Rows.
    group : Group
        What is compared.
    results : Path
        The results folder; posteriors are kept in ``tables/<group>_posterior.npz``, each under a SHA-256 of its
        scores and of the sampler's settings.
    say : callable, optional
        Told what takes long.
    most : int, default=91
        How many pairs at most.

    Returns
    -------
    Posteriors or None
        None when no two rankers are complete on one data set.
    """
    pairs, not_tested = pairs_of(complete_rows(frame, group.expected), list(group.labels), most=most)
    if not pairs:
        return None
    from experiments.analysis import bayes

    settings = {**bayes.settings(), "rope": ROPE, "seed": _SEED}
    digests = [pair.digest(**settings) for pair in pairs]
    file = Path(results) / "tables" / f"{file_stem(group.name, 'posterior')}.npz"
    kept = _read(file)
    new = {digest: pair for digest, pair in zip(digests, pairs, strict=True) if digest not in kept}
    if new:
        many = "pairs of rankers" if len(new) > 1 else "pair of rankers"
        say(f"{group.name}: sampling the posteriors of {len(new)} {many} (kept for the next report)")
        kept |= dict(zip(new, _run(list(new.values())), strict=True))
        # Posteriors of scores that have changed since are dropped, those of this report are kept.
        _write(file, {digest: kept[digest] for digest in dict.fromkeys(digests)})
    sampling = dict(settings)
    if not_tested:
        sampling["pairs"] = (
            f"those of the {len(group.labels) - len(not_tested)} rankers with the best max F1; "
            f"not tested: {', '.join(group.labels[ranker] for ranker in not_tested)}"
        )
    return posteriors_of(pairs, [kept[digest] for digest in digests], sampling)


def _run(pairs: Sequence[Pair]) -> list[dict[str, Any]]:
    """Test all pairs, those that can be tested together in one batch."""
    from experiments.analysis import bayes

    answers: list[dict[str, Any]] = []
    for result in bayes.hierarchical_tests(
        [(pair.x, pair.y) for pair in pairs],
        rope=ROPE,
        runs=[pair.runs for pair in pairs],
        random_state=_SEED,
    ):
        draws = np.asarray(result.sample, dtype=float)
        chosen = draws[np.linspace(0, len(draws) - 1, min(_KEPT, len(draws))).astype(int)]
        answers.append(
            {
                "probabilities": np.array(result.probs(), dtype=float),
                "draws": chosen.astype("float32"),
                "r_hat": result.r_hat,
                "ess": result.ess,
                "divergences": result.divergences,
                "n_draws": len(draws),
                "message": result.message,
            }
        )
    return answers


def _write(file: Path, kept: dict[str, dict[str, Any]]) -> None:
    arrays: dict[str, np.ndarray] = {
        "digests": np.array(list(kept)),
        "probabilities": np.array([each["probabilities"] for each in kept.values()], dtype=float),
        "messages": np.array([str(each["message"]) for each in kept.values()]),
        **{name: np.array([each[name] for each in kept.values()], dtype=float) for name in _NUMBERS},
        **{f"draws_{place}": each["draws"] for place, each in enumerate(kept.values())},
    }
    buffer = io.BytesIO()
    np.savez_compressed(buffer, **arrays)
    write_whole(file, buffer.getvalue())


def _read(file: Path) -> dict[str, dict[str, Any]]:
    """Return what is kept; nothing when there is no file, or one that cannot be read."""
    try:
        with np.load(file, allow_pickle=False) as arrays:
            return {
                str(digest): {
                    "probabilities": arrays["probabilities"][place],
                    "message": str(arrays["messages"][place]),
                    "draws": arrays[f"draws_{place}"],
                    **{name: float(arrays[name][place]) for name in _NUMBERS},
                }
                for place, digest in enumerate(arrays["digests"])
            }
    except (OSError, ValueError, KeyError, EOFError, zipfile.BadZipFile):
        return {}
