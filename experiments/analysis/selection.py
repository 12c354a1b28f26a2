"""What a study has and what it lacks: chosen once as a :class:`Selection` and handed on; and the time left.

Means over different folds say nothing about rankers, so a ranker is compared only when every fold that its protocol
asks for is there and has status "ok". Everything else is kept apart, with the reason in words.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
import pandas as pd

from experiments.errors import BadInputError
from experiments.formatting import count, first_line
from experiments.schema import BAD_STATUSES, LIMIT_COLUMNS
from experiments.tasks import as_scores

#: What one line of a table stands for.
PAIR = ["dataset", "protocol", "ranker"]

_KINDS_TOLD = 3


class SameNameError(BadInputError, ValueError):
    """Two different cells have the same names, so that a row could be of either."""


@dataclass(frozen=True)
class Selection:
    """The rows of a study, and which of them may be compared.

    Attributes
    ----------
    rows : DataFrame
        From :func:`study_rows`.
    coverage : DataFrame
        From :func:`coverage`.
    """

    rows: pd.DataFrame
    coverage: pd.DataFrame

    @cached_property
    def complete(self) -> pd.DataFrame:
        """Rows of rankers that have every fold of a data set, the others left out."""
        whole = self.coverage.loc[self.coverage["complete"], PAIR]
        return self.rows.merge(whole, on=PAIR, how="inner")


def select(rows: pd.DataFrame | Selection, expected: pd.DataFrame | None = None) -> Selection:
    """Choose the rows of a study."""
    if isinstance(rows, Selection):
        return rows
    expected = expected_from_rows(rows) if expected is None else expected
    chosen = study_rows(rows, expected)
    return Selection(chosen, _counted(chosen, expected))


def complete_rows(rows: pd.DataFrame | Selection, expected: pd.DataFrame | None = None) -> pd.DataFrame:
    """Choose the rows that may be compared.

    As from :func:`study_rows`, without rankers of which a fold is missing or failed on a data set.
    """
    return select(rows, expected).complete


def expected_of(configs: Iterable[Mapping[str, Any]]) -> pd.DataFrame:
    """List what a study asks for.

    One line per data set × protocol × ranker, in the order of the configurations: ``dataset``, ``protocol``,
    ``ranker`` (the names that stand in rows), ``display_name``, ``n_splits``, ``n_repeats``.
    """
    lines = [
        {
            "dataset": config["dataset_key"],
            "protocol": config["protocol"]["name"],
            "ranker": config["ranker_key"],
            "display_name": str(config["ranker"].get("display_name") or config["ranker_key"]),
            "n_splits": int(config["protocol"]["n_splits"]),
            "n_repeats": int(config["protocol"]["n_repeats"]),
        }
        for config in configs
    ]
    columns = [*PAIR, "display_name", "n_splits", "n_repeats"]
    expected = pd.DataFrame(lines, columns=columns).drop_duplicates(PAIR, ignore_index=True)
    # Two rankers may have one display name; the name that is typed stands beside it then.
    shared = expected.duplicated(["dataset", "protocol", "display_name"], keep=False)
    both = expected["display_name"] + " (" + expected["ranker"] + ")"
    expected["display_name"] = expected["display_name"].mask(shared, both)
    return expected


def expected_from_rows(frame: pd.DataFrame) -> pd.DataFrame:
    """Guess what a study asked for: as many repeats and folds as its fullest ranker has.

    As from :func:`expected_of`, per data set and protocol the largest repeat and fold seen, plus 1.
    """
    rows = frame[frame["kind"] == "ranking"]
    expected = rows[PAIR].drop_duplicates(ignore_index=True)
    expected["display_name"] = expected["ranker"]
    for column, place in (("n_splits", "fold"), ("n_repeats", "repeat")):
        seen = rows.groupby(["dataset", "protocol"])[place].max() + 1
        keys = pd.MultiIndex.from_frame(expected[["dataset", "protocol"]])
        expected[column] = seen.reindex(keys).to_numpy(dtype="int64")
    return expected


def study_rows(frame: pd.DataFrame, expected: pd.DataFrame | None = None) -> pd.DataFrame:
    """Choose the rows that belong to a study.

    Rankings alone, of the expected data sets × protocols × rankers, without repeats and folds beyond those
    asked for, in the order of ``expected``, then of repeats and folds. R² of numeric targets stands in the
    columns of F1 (:mod:`experiments.tasks`).
    """
    expected = expected_from_rows(frame) if expected is None else expected
    order = expected[[*PAIR, "n_splits", "n_repeats"]].assign(_order=range(len(expected)))
    rows = frame[frame["kind"] == "ranking"].merge(order, on=PAIR, how="inner", validate="many_to_one")
    rows = rows[(rows["repeat"] < rows["n_repeats"]) & (rows["fold"] < rows["n_splits"])]
    twice = rows.duplicated([*PAIR, "repeat", "fold"])
    if twice.any():
        first = rows.loc[twice, PAIR].iloc[0]
        raise SameNameError(
            f"two different cells are called {first['dataset']} × {first['ranker']} ({first['protocol']})\n"
            "give one of the two rankers a file of its own in conf/ranker; the rows of both are kept"
        )
    rows = rows.sort_values(["_order", "repeat", "fold"], ignore_index=True)
    return as_scores(rows.drop(columns=["_order", "n_splits", "n_repeats"]))


def coverage(rows: pd.DataFrame | Selection, expected: pd.DataFrame | None = None) -> pd.DataFrame:
    """Count the folds of every data set × protocol × ranker.

    The columns of ``expected`` and ``repeats`` (those with a row for every fold), ``folds_expected``,
    ``folds_ok``, ``folds_failed``, ``complete`` (all expected folds are ok), ``reason`` (why not, in words; ""
    when complete).
    """
    return select(rows, expected).coverage


def _counted(rows: pd.DataFrame, expected: pd.DataFrame) -> pd.DataFrame:
    lines = []
    places = rows.groupby(PAIR, sort=False).indices
    none = np.empty(0, dtype=np.int64)
    repeat, bad = rows["repeat"].to_numpy(dtype=np.int64), (rows["status"] != "ok").to_numpy()
    for line in expected.to_dict("records"):
        mine = places.get(tuple(line[name] for name in PAIR), none)
        failed = mine[bad[mine]]
        # Each fold is there once (study_rows): a repeat has as many folds as rows.
        n_whole = int((np.bincount(repeat[mine]) == line["n_splits"]).sum())
        n_expected = line["n_splits"] * line["n_repeats"]
        n_ok = len(mine) - len(failed)
        reasons = []
        if n_whole < line["n_repeats"]:
            reasons.append(f"{n_whole} of {count(line['n_repeats'], 'repeat')}")
        for status, part in rows.iloc[failed].groupby("status", sort=False) if failed.size else ():
            said = BAD_STATUSES[str(status)]
            reasons.append(f"{len(part)} of {count(n_expected, 'fold')} {said}: {_kinds(part['error'])}")
        lines.append(
            {
                **line,
                "repeats": n_whole,
                "folds_expected": n_expected,
                "folds_ok": n_ok,
                "folds_failed": len(failed),
                "complete": n_ok == n_expected,
                "reason": "; ".join(reasons),
            }
        )
    columns = [
        *expected.columns,
        "repeats",
        "folds_expected",
        "folds_ok",
        "folds_failed",
        "complete",
        "reason",
    ]
    return pd.DataFrame(lines, columns=columns).astype({"complete": bool})


def failures(rows: pd.DataFrame | Selection, expected: pd.DataFrame | None = None) -> pd.DataFrame:
    """List what failed or was stopped, equal errors of a ranker together.

    ``dataset``, ``protocol``, ``ranker``, ``status``, ``limited`` (whether a limit is known that stopped
    them), ``error`` (first line), ``folds`` (number of them), ``first`` ("repeat 3, fold 7", counted from 0 as
    in the rows).
    """
    rows = select(rows, expected).rows
    rows = rows[rows["status"] != "ok"].copy()
    rows["error"] = rows["error"].map(_first_line)
    rows["limited"] = False
    for status, column in LIMIT_COLUMNS.items():
        rows["limited"] |= (rows["status"] == status) & rows[column].notna()
    lines = []
    for keys, group in rows.groupby([*PAIR, "status", "limited", "error"], sort=False):
        first = group.iloc[0]
        place = f"repeat {first['repeat']}, fold {first['fold']}"
        lines.append([*keys, len(group), place])
    return pd.DataFrame(lines, columns=[*PAIR, "status", "limited", "error", "folds", "first"])


def _kinds(errors: pd.Series) -> str:
    counts = errors.map(_first_line).value_counts(sort=False).sort_values(ascending=False, kind="stable")
    told = [error if n == errors.size else f"{n} × {error}" for error, n in counts.head(_KINDS_TOLD).items()]
    more = len(counts) - len(told)
    return ", ".join(told) + (f", and {more} other errors" if more > 0 else "")


def _first_line(error: Any) -> str:
    return first_line(error if isinstance(error, str) else "") or "no error text"


#: What a cell can be, in the order in which they are told.
STATES = ("done", "running", "failed", "timeout", "out_of_memory", "missing")

#: Columns of rows that add up to what a fold takes.
_SECONDS = ["warm_up_seconds", "fit_seconds", "learner_seconds"]


def standing(
    frame: pd.DataFrame, expected: pd.DataFrame, running: Iterable[tuple[str, str, str, int]] = ()
) -> pd.DataFrame:
    """Count the cells of every data set × protocol × ranker by what has become of them.

    The columns of ``expected``; a column for each of :data:`STATES`, which add up to ``n_repeats``; and
    ``cell_seconds``, the mean over cells whose times are known of what rankers and learners took (NaN for
    none). A cell is done when all its folds are "ok", otherwise what its first other fold is; one that is
    being run is "running" whatever it was before.
    """
    rows = frame[frame["kind"] != "all_features"]
    # Floats stay floats, and an empty frame has columns of objects.
    rows = rows.assign(seconds=rows[_SECONDS].astype("float64").sum(axis=1, skipna=False))
    cells = rows.sort_values("fold").groupby([*PAIR, "repeat"], sort=False)
    state = cells["status"].agg(lambda statuses: next((each for each in statuses if each != "ok"), "done"))
    n_rows, seconds = cells.size(), cells["seconds"].sum(min_count=1)
    states = {key: (state[key], n_rows[key], seconds[key]) for key in state.index}
    at_work = set(running)
    lines = []
    for line in expected.to_dict("records"):
        pair = tuple(line[name] for name in PAIR)
        counts, taken = dict.fromkeys(STATES, 0), []
        for repeat in range(line["n_repeats"]):
            what, n_folds, took = states.get((*pair, repeat), ("missing", 0, np.nan))
            if what == "done" and n_folds < line["n_splits"]:
                what = "missing"
            elif what == "done" and not np.isnan(took):
                taken.append(took)
            counts["running" if (*pair, repeat) in at_work else what] += 1
        lines.append({**line, **counts, "cell_seconds": float(np.mean(taken)) if taken else np.nan})
    return pd.DataFrame(lines, columns=[*expected.columns, *STATES, "cell_seconds"])


def work_left(stand: pd.DataFrame) -> tuple[float, int]:
    """Estimate the time that cells still need which are missing, running or failed.

    seconds : float
        Of one worker. A ranker that has finished a cell on the data set is taken for its mean there. For others the
        mean is the product of a factor of the ranker and one of the data set, fitted by least squares to the
        logarithms of the means that are known.
    n_unknown : int
        Cells left out of this sum, because nothing has finished on their data set yet, or with their ranker.
    """
    places = pd.MultiIndex.from_frame(stand[["dataset", "protocol"]])
    place, ranker = pd.factorize(places)[0], pd.factorize(stand["ranker"])[0]
    known = stand["cell_seconds"].notna().to_numpy()
    seconds = stand["cell_seconds"].clip(lower=1e-6).to_numpy(dtype=float, copy=True)
    n_places, n_rankers = place.max(initial=-1) + 1, ranker.max(initial=-1) + 1
    design = np.zeros((len(stand), n_places + n_rankers))
    design[np.arange(len(stand)), place] = 1.0
    design[np.arange(len(stand)), n_places + ranker] = 1.0
    if known.any():
        factors = np.linalg.lstsq(design[known], np.log(seconds[known]), rcond=None)[0]
        seconds[~known] = np.exp(design[~known] @ factors)
    seen_place = np.isin(place, place[known])
    seen_ranker = np.isin(ranker, ranker[known])
    estimable = known | (seen_place & seen_ranker)
    left = (stand["missing"] + stand["running"] + stand["failed"]).to_numpy()
    return float((left * seconds)[estimable].sum()), int(left[~estimable].sum())
