"""The paper's table of complexities, and how times really grow with rows and features."""

from __future__ import annotations

import numpy as np
import pandas as pd

#: Ranker → algorithm, time and space, as the paper states them (its table "Computational complexity of feature
#: importance estimation"; s = |I| for Relief algorithms, t trees, ν representatives, d dimensions), in LaTeX.
PAPER = {
    "reliefe": ("ReliefE", r"|\nu|^2 \cdot |F| + |I| \cdot d \cdot s", r"|\nu|^2"),
    "relieff": ("ReliefF", r"|F| \cdot |I|^2", r"|F|"),
    "random_forest": ("Random forest", r"t \cdot |F| \cdot |I| \cdot \log^2 |I|", r"|I| + |F|"),
    "mutual_information": ("Mutual information", r"|F| \cdot |I|", r"|I|"),
}

#: A plane needs three points; one more so that it can be wrong.
_FEWEST = 4


def growth(seconds: pd.DataFrame, sizes: pd.DataFrame) -> pd.DataFrame:
    """Fit seconds ≈ c · rows^a · features^b to the mean times of every ranker over data sets.

    Parameters
    ----------
    seconds : DataFrame
        Data sets × rankers, mean seconds of a fit (:func:`experiments.analysis.scores.score_table`).
    sizes : DataFrame
        From :func:`experiments.analysis.datasets.dataset_table`.

    Returns
    -------
    DataFrame
        ``ranker``, ``rows_exponent``, ``features_exponent``, ``factor_error`` (times and predictions differ by
        this factor, root mean square of logarithms), ``n_datasets``. NaN with fewer than four data sets, or
        when rows and features of the data sets are proportional.

    Notes
    -----
    Ordinary least squares on logarithms. Data sets differ in more than their size, so these are descriptions of a
    study's times and not complexities.
    """
    shape = sizes.set_index("dataset")[["rows", "features"]].dropna()
    lines = []
    for ranker in seconds.columns:
        mine = seconds[ranker].dropna()
        mine = mine[(mine > 0) & mine.index.isin(shape.index)]
        numbers = [np.nan, np.nan, np.nan]
        if len(mine) >= _FEWEST:
            logs = np.log(shape.loc[mine.index].to_numpy(dtype=float))
            design = np.column_stack([np.ones(len(mine)), logs])
            if np.linalg.matrix_rank(design) == 3:
                wanted = np.log(mine.to_numpy(dtype=float))
                found = np.linalg.lstsq(design, wanted, rcond=None)[0]
                error = float(np.exp(np.sqrt(np.mean((design @ found - wanted) ** 2))))
                numbers = [float(found[1]), float(found[2]), error]
        lines.append([ranker, *numbers, len(mine)])
    columns = ["ranker", "rows_exponent", "features_exponent", "factor_error", "n_datasets"]
    return pd.DataFrame(lines, columns=columns)


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
    return pd.DataFrame(lines, columns=columns).astype({"n_datasets": int})
