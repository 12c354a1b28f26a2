"""The paper's tables of data sets and complexities, with what the rows of a study say beside them."""

from __future__ import annotations

from typing import Any

import numpy as np
import pandas as pd
from scipy import stats

from experiments.analysis.groups import Group

_QUANTITIES = ("rows", "features", "classes", "nonzero_share")

#: Ranker → algorithm, time and space, as the paper states them (its table "Computational complexity of feature
#: importance estimation"; s = |I| for Relief algorithms, t trees, ν representatives, d dimensions), in LaTeX.
PAPER = {
    "reliefe": ("ReliefE", r"|\nu|^2 \cdot |F| + |I| \cdot d \cdot s", r"|\nu|^2"),
    "relieff": ("ReliefF", r"|F| \cdot |I|^2", r"|F|"),
    "random_forest": ("Random forest", r"t \cdot |F| \cdot |I| \cdot \log^2 |I|", r"|I| + |F|"),
    "mutual_information": ("Mutual information", r"|F| \cdot |I|", r"|I|"),
}

#: Numbers that are fitted: constant and two exponents. One data set more, so that the fit can be wrong.
N_FITTED = 3
_FEWEST = N_FITTED + 1
_CONFIDENCE = 0.95
_EXPONENTS = (
    *("rows_exponent", "rows_lower", "rows_upper"),
    *("features_exponent", "features_lower", "features_upper"),
)


def growth(seconds: pd.DataFrame, sizes: pd.DataFrame) -> pd.DataFrame:
    """Fit seconds ≈ c · rows^a · features^b to the mean times of every ranker over data sets.

    Parameters
    ----------
    seconds : DataFrame
        Data sets × rankers, mean seconds of a fit (:func:`experiments.analysis.scores.score_table`).
    sizes : DataFrame
        From :func:`dataset_table`.

    Returns
    -------
    DataFrame
        ``ranker``, ``rows_exponent`` and ``features_exponent``, each with its 95 % interval (``rows_lower``,
        ``rows_upper``, ``features_lower``, ``features_upper``), ``factor_error`` (times and predictions differ by
        this factor, root mean square of logarithms), ``n_datasets``, ``n_left`` (degrees of freedom: data sets less
        the three fitted numbers, never below 0). NaN with fewer than four data sets, or when rows and features of
        the data sets are proportional.

    Notes
    -----
    Ordinary least squares on logarithms, intervals by Student's t with ``n_left`` degrees of freedom. With five
    data sets two are left and an interval is 4.3 standard errors wide to each side; and where the data sets with
    many features have few samples, the estimates of the two exponents are strongly correlated. Data sets differ in
    more than their size, so these are descriptions of a study's times and not complexities.
    """
    shape = sizes.set_index("dataset")[["rows", "features"]].dropna()
    lines = []
    for ranker in seconds.columns:
        mine = seconds[ranker].dropna()
        mine = mine[(mine > 0) & mine.index.isin(shape.index)]
        numbers = [np.nan] * (len(_EXPONENTS) + 1)
        if len(mine) >= _FEWEST:
            logs = np.log(shape.loc[mine.index].to_numpy(dtype=float))
            design = np.column_stack([np.ones(len(mine)), logs])
            if np.linalg.matrix_rank(design) == N_FITTED:
                numbers = _fitted(design, np.log(mine.to_numpy(dtype=float)))
        lines.append([ranker, *numbers, len(mine), max(0, len(mine) - N_FITTED)])
    columns = ["ranker", *_EXPONENTS, "factor_error", "n_datasets", "n_left"]
    return pd.DataFrame(lines, columns=columns)


def _fitted(design: np.ndarray, wanted: np.ndarray) -> list[float]:
    """Return both exponents, each with the ends of its interval, and the factor by which times and fit differ."""
    found = np.linalg.lstsq(design, wanted, rcond=None)[0]
    squares = float(((design @ found - wanted) ** 2).sum())
    n_left = len(wanted) - N_FITTED
    spread = np.sqrt(np.diag(np.linalg.inv(design.T @ design)) * squares / n_left)
    half = stats.t.ppf(0.5 + _CONFIDENCE / 2, n_left) * spread
    exponents = [float(each) for k in (1, 2) for each in (found[k], found[k] - half[k], found[k] + half[k])]
    return [*exponents, float(np.exp(np.sqrt(squares / len(wanted))))]


def complexity_table(seconds: pd.DataFrame, sizes: pd.DataFrame) -> pd.DataFrame:
    """Put the paper's complexities beside the growth that was measured.

    Parameters
    ----------
    seconds, sizes : DataFrame
        As for :func:`growth`.

    Returns
    -------
    DataFrame
        ``algorithm``, ``ranker``, ``time``, ``space`` (the paper's, LaTeX), and the columns of :func:`growth`;
        first the paper's four, then the other rankers without the paper's columns ("").
    """
    measured = growth(seconds, sizes).set_index("ranker")
    names = [*PAPER, *(ranker for ranker in measured.index if ranker not in PAPER)]
    lines = []
    for ranker in names:
        algorithm, time, space = PAPER.get(ranker, (ranker, "", ""))
        of_study = measured.loc[ranker].to_dict() if ranker in measured.index else {"n_datasets": 0}
        lines.append({"algorithm": algorithm, "ranker": ranker, "time": time, "space": space, **of_study})
    columns = ["algorithm", "ranker", "time", "space", *measured.columns]
    return (
        pd.DataFrame(lines, columns=columns).fillna({"n_left": 0}).astype({"n_datasets": int, "n_left": int})
    )


def dataset_table(frame: pd.DataFrame, group: Group) -> pd.DataFrame:
    """Describe the data sets of a group.

    Parameters
    ----------
    frame : DataFrame
        Rows; where there are some, they say how many samples and features a data set has.
    group : Group
        Its configurations state the shapes that the loader checks data against, and the paper's.

    Returns
    -------
    DataFrame
        One line per data set: ``dataset``; ``rows``, ``features``, ``classes`` (labels of multi-label data),
        ``nonzero_share``; the same with ``paper_`` (NaN where the paper has none); ``differs`` (why they are
        not the same, ""); ``here`` (False where the data set is not on this machine); ``citation``,
        ``licence``.

    Notes
    -----
    Source: the paper's two tables of data sets.
    """
    lines = []
    for name, block in group.datasets.items():
        stated, paper = block.get("expected") or {}, block.get("paper") or {}
        seen = frame[(frame["dataset"] == name) & (frame["status"] == "ok") & (frame["kind"] == "ranking")]
        line: dict[str, Any] = {"dataset": name}
        line |= {each: _number(stated.get(each)) for each in _QUANTITIES}
        if len(seen):
            line["rows"] = float((seen["n_train"] + seen["n_test"]).max())
            line["features"] = float(seen["n_features"].max())
        differs = [str(block.get("differs") or "")]
        if group.max_rows is not None and (stated.get("rows") or 0) > group.max_rows:
            line["nonzero_share"] = np.nan  # stated of all samples
            differs.append(
                f"A random subset of {group.max_rows:,} of {stated['rows']:,} samples (protocol {group.protocol})."
            )
        line |= {f"paper_{each}": _number(paper.get(each)) for each in _QUANTITIES}
        line |= {
            "differs": " ".join(" ".join(differs).split()),
            "here": name not in group.absent,
            "citation": " ".join(str(block.get("citation") or "").split()),
            "licence": " ".join(str(block.get("licence") or "").split()),
        }
        lines.append(line)
    columns = ["dataset", *_QUANTITIES, *(f"paper_{each}" for each in _QUANTITIES)]
    return pd.DataFrame(lines, columns=[*columns, "differs", "here", "citation", "licence"])


def _number(value: float | None) -> float:
    return np.nan if value is None else float(value)
