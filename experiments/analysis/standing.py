"""How far a study is, cell by cell, and how long the rest may take."""

from __future__ import annotations

from collections.abc import Iterable

import numpy as np
import pandas as pd

from experiments.analysis.selection import PAIR

#: What a cell can be, in the order in which they are told.
STATES = ("done", "running", "failed", "timeout", "out_of_memory", "missing")

#: Columns of rows that add up to what a fold takes.
_SECONDS = ["warm_up_seconds", "fit_seconds", "learner_seconds"]


def standing(
    frame: pd.DataFrame, expected: pd.DataFrame, running: Iterable[tuple[str, str, str, int]] = ()
) -> pd.DataFrame:
    """Count the cells of every data set × protocol × ranker by what has become of them.

    Parameters
    ----------
    frame : DataFrame
        Rows, under the names of ``expected``.
    expected : DataFrame
        From :func:`experiments.analysis.selection.expected_of`.
    running : iterable of (data set, protocol, ranker, repeat)
        Cells that some process is at now.

    Returns
    -------
    DataFrame
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

    Parameters
    ----------
    stand : DataFrame
        From :func:`standing`.

    Returns
    -------
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
