"""Posteriors of pairs of rankers: sampled once, kept beside the tables."""

from __future__ import annotations

import io
import warnings
import zipfile
from collections.abc import Callable, Mapping, Sequence
from importlib import metadata
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd

from experiments.analysis.groups import Group
from experiments.analysis.pairs import ROPE, Pair, Posteriors, pairs_of, paper_pairs, posteriors_of
from experiments.analysis.selection import Selection, complete_rows
from experiments.errors import BadInputError
from experiments.paths import file_stem, write_whole

#: Draws of a pair that are kept for its triangle.
_KEPT = 1000
#: Everything that decides a posterior beside the scores; raised by one when the sampler's own code changes.
_VERSION, _SEED, _N_DRAWS = 1, 0, 10_000
#: Published answers, in a results folder.
PUBLISHED = "posteriors.npz"
#: SHA-256 of scores and settings → answer.
Answers = dict[str, dict[str, Any]]
#: Pairs between two looks at the disk.
_AT_ONCE = 24
_NUMBERS = ("r_hat", "ess", "divergences", "n_draws")


def of_group(
    rows: pd.DataFrame | Selection,
    group: Group,
    results: Path,
    *,
    say: Callable[[str], None] = lambda text: None,
    most: int = 91,
    used: Answers | None = None,
) -> Posteriors | None:
    """Return the posteriors of a group's pairs; sample only those that are not kept from an earlier report."""
    pairs, not_tested = pairs_of(
        complete_rows(rows, group.expected), list(group.labels), most=most, also=group.also
    )
    if not pairs:
        return None
    answers = _answers(pairs, group.name, results, say, used)
    settings = _settings()
    first = group.expected.iloc[0]
    sampling = {**settings, "correlation of folds": f"1 / {int(first['n_splits'])}"}
    del sampling["version"]
    if not_tested:
        n_tested = len(group.labels) - len(not_tested) - len(group.also)
        sampling["pairs"] = (
            f"those of the {n_tested} rankers with the best max {group.kind.score}"
            f"{f' and of {_named(group.also, group.labels)}' if group.also else ''}; "
            f"not tested: {_named(not_tested, group.labels)}"
        )
    return posteriors_of(pairs, answers, sampling)


def of_pairs(
    rows: pd.DataFrame,
    wanted: Sequence[tuple[str, str]],
    name: str,
    results: Path,
    *,
    say: Callable[[str], None] = lambda text: None,
    used: Answers | None = None,
) -> Posteriors | None:
    """Return the posteriors of some pairs; sample only those that are not kept from an earlier report."""
    if not len(rows):
        return None
    repeats = set.intersection(*(set(each) for _, each in rows.groupby("dataset")["repeat"]))
    rankers = list(dict.fromkeys(rows["ranker"]))
    pairs, _ = pairs_of(rows[rows["repeat"].isin(repeats)], rankers, only=wanted)
    return posteriors_of(pairs, _answers(pairs, name, results, say, used), _settings()) if pairs else None


def keep(used: Answers, results: Path) -> Path:
    """Write the answers that published studies used: ``posteriors.npz``, with draws of the paper's pairs alone."""
    small = {k: used[k] | {"draws": used[k]["draws"].astype("float16")} for k in sorted(used)}
    _write(results / PUBLISHED, small)
    return results / PUBLISHED


def _answers(
    pairs: Sequence[Pair], name: str, results: Path, say: Callable[[str], None], used: Answers | None
) -> list[dict[str, Any]]:
    """Read the answers of pairs that were sampled before, and sample the others."""
    settings = _settings()
    digests = [pair.digest(**settings) for pair in pairs]
    file = Path(results) / "tables" / f"{file_stem(name, 'posterior')}.npz"
    kept = _read(file)
    if set(digests) - set(kept):  # the same pairs may have been sampled for another study, or be published
        folders = [Path(results) / "published" / "tables", file.parent]
        found = [Path(results) / "published" / PUBLISHED, Path(results) / PUBLISHED]
        found += [each for folder in folders for each in sorted(folder.glob("*_posterior.npz"))]
        others = [each for each in found if each != file]
        kept = {digest: answer for other in others for digest, answer in _read(other).items()} | kept
    new = {digest: pair for digest, pair in zip(digests, pairs, strict=True) if digest not in kept}
    if new:
        many = f"{len(new)} pairs" if len(new) > 1 else "a pair"
        say(
            f"{name}: sampling the posteriors of {many} of rankers, which may take minutes; "
            "they are kept for the next report"
        )
        wanted = dict.fromkeys(digests)
        for start in range(0, len(new), _AT_ONCE):
            part = dict(list(new.items())[start : start + _AT_ONCE])
            kept |= dict(zip(part, _run(list(part.values())), strict=True))
            # Posteriors of scores that have changed since are dropped; an interrupted report goes on from here.
            _write(file, {digest: kept[digest] for digest in wanted if digest in kept})
    if used is not None:
        in_paper = set(paper_pairs((pair.a, pair.b, len(pair.datasets)) for pair in pairs).values())
        for digest, pair in zip(digests, pairs, strict=True):
            drawn = (pair.a, pair.b) in in_paper or len(used.get(digest, {}).get("draws", ())) > 0
            used[digest] = kept[digest] | ({} if drawn else {"draws": kept[digest]["draws"][:0]})
    return [kept[digest] for digest in digests]


def _named(rankers: Sequence[str], labels: Mapping[str, str]) -> str:
    return ", ".join(labels[ranker] for ranker in rankers)


def _settings() -> dict[str, Any]:
    packages = ", ".join(f"{name} {metadata.version(name)}" for name in ("numpyro", "jax"))
    return {
        "model and priors": "baycomp.HierarchicalTest",
        "sampler": f"NUTS ({packages})",
        "draws of a pair": _N_DRAWS,
        "rope": ROPE,
        "seed": _SEED,
        "version": _VERSION,
    }


def _run(pairs: Sequence[Pair]) -> list[dict[str, Any]]:
    """Test pairs in one batch; should one of them be impossible to test, each by itself."""
    from experiments.analysis import bayes

    def test(several: Sequence[Pair]) -> list[dict[str, Any]]:
        with warnings.catch_warnings():
            # What it warns of is told pair by pair, below the figure and on the page.
            warnings.simplefilter("ignore", bayes.ConvergenceWarning)
            found = bayes.hierarchical_tests(
                [(pair.x, pair.y) for pair in several],
                ROPE,
                several[0].runs,
                _N_DRAWS,
                _SEED,
                names=[(pair.a, pair.b) for pair in several],
            )
        return [_answer(each) for each in found]

    try:
        return test(pairs)
    except BadInputError:
        answers = []
        for pair in pairs:
            try:
                answers += test([pair])
            except BadInputError as error:
                answers.append(_no_answer(str(error)))
        return answers


def _answer(result: Any) -> dict[str, Any]:
    from experiments.analysis import bayes

    draws = np.asarray(result.sample, dtype=float)
    chosen = draws[np.linspace(0, len(draws) - 1, min(_KEPT, len(draws))).astype(int)]
    return {
        "probabilities": np.array(result.probs(), dtype=float),
        "draws": chosen.astype("float32"),
        # Scores that are equal everywhere need no sampling, and then there is no number of draws.
        "r_hat": result.max_rhat if result.n_drawn else np.nan,
        "ess": result.min_ess if result.n_drawn else np.nan,
        "divergences": result.divergences,
        "n_draws": result.n_drawn,
        "message": ""
        if not result.n_drawn or (result.max_rhat < 1.01 and result.min_ess >= 400)
        else f"the chains do not agree: {bayes.sampling_in_words(result)}",
    }


def _no_answer(why: str) -> dict[str, Any]:
    nothing = {
        "probabilities": np.full(3, np.nan),
        "draws": np.empty((0, 3), dtype="float32"),
        "message": why,
    }
    return nothing | {"r_hat": np.nan, "ess": np.nan, "divergences": 0, "n_draws": 0}


def _write(file: Path, kept: dict[str, dict[str, Any]]) -> None:
    arrays: dict[str, Any] = {
        "digests": np.array(list(kept)),
        "probabilities": np.array([each["probabilities"] for each in kept.values()], dtype=float),
        "messages": np.array([str(each["message"]) for each in kept.values()]),
        **{name: np.array([each[name] for each in kept.values()], dtype=float) for name in _NUMBERS},
        **{f"draws_{place}": each["draws"] for place, each in enumerate(kept.values())},
    }
    buffer = io.BytesIO()
    np.savez_compressed(buffer, **arrays)
    write_whole(file, buffer.getvalue())


def _finite(value: float) -> float:
    return float(value) if np.isfinite(value) else np.nan


def _read(file: Path) -> dict[str, dict[str, Any]]:
    """Return what is kept; nothing when there is no file, or one that cannot be read."""
    try:
        with np.load(file, allow_pickle=False) as arrays:
            return {
                str(digest): {
                    "probabilities": arrays["probabilities"][place],
                    "message": str(arrays["messages"][place]),
                    "draws": arrays[f"draws_{place}"].astype("float32"),
                    **{name: _finite(arrays[name][place]) for name in _NUMBERS},
                }
                for place, digest in enumerate(arrays["digests"])
            }
    except (OSError, ValueError, KeyError, EOFError, zipfile.BadZipFile):
        return {}
