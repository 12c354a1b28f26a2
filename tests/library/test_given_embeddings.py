"""An embedding of the user's own that answers with something else than a table of numbers is named."""

import logging

import numpy as np
import pandas as pd
import pytest
import scipy.sparse as sp

from reliefe import SURF, VLS, MultiSURF, MultiSURFStar, ReliefE, SURFStar, TuRF

N = 40
X = np.random.default_rng(33).normal(size=(N, 6))
Y = np.arange(N) % 2


class Answers:
    """An embedding that gives what a function makes of the first three columns, from its n-th answer on."""

    def __init__(self, function, first=1):
        self.function = function
        self.first = first

    def fit(self, X, y=None):
        self.n_answers_ = 0
        return self

    def transform(self, X):
        self.n_answers_ += 1
        rows = np.asarray(X)[:, :3]
        return self.function(rows) if self.n_answers_ >= self.first else rows


def with_value(value):
    def changed(rows):
        rows = rows.copy()
        rows[-1, 1] = value
        return rows

    return changed


#: What is given for {n} rows, and how the error says so.
WRONG = {
    "one row": (lambda rows: rows[:1], r"gave shape \(1, 3\)"),
    "a row too few": (lambda rows: rows[1:], r"gave shape \({less}, 3\)"),
    "a row too many": (lambda rows: np.vstack([rows, rows[:1]]), r"gave shape \({more}, 3\)"),
    "no rows": (lambda rows: rows[:0], r"gave shape \(0, 3\)"),
    "columns for rows": (lambda rows: rows.T, r"gave shape \(3, {n}\)"),
    "no columns": (lambda rows: rows[:, :0], r"gave shape \({n}, 0\)"),
    "a vector": (lambda rows: rows[:, 0], r"gave shape \({n},\)"),
    "a list of numbers": (lambda rows: rows[:, 0].tolist(), r"gave shape \({n},\)"),
    "one number": (lambda rows: 1.0, r"gave shape \(\)"),
    "three dimensions": (lambda rows: rows[:, :, np.newaxis], r"gave shape \({n}, 3, 1\)"),
    "complex numbers": (lambda rows: rows + 0j, r"gave complex numbers \(complex128\)"),
    "sparse complex numbers": (lambda rows: sp.csr_matrix(rows + 1j), r"gave complex numbers \(complex128\)"),
    "text": (lambda rows: rows.astype(str), "gave values of type <U"),
    "objects": (lambda rows: np.full(rows.shape, "a", dtype=object), "gave ndarray"),
    "dates": (lambda rows: np.zeros(rows.shape, dtype="M8[s]"), "gave values of type datetime64"),
    "a frame with pandas.NA": (
        lambda rows: pd.DataFrame(rows, dtype=object).mask(rows > 0, pd.NA),
        "gave DataFrame",
    ),
    "rows of different lengths": (lambda rows: [[1.0], *rows[1:].tolist()], "gave list"),
    "nothing": (lambda rows: None, r"gave (NoneType|shape \(\))"),
    "masked values": (lambda rows: np.ma.array(rows, mask=rows > 0), "gave masked values"),
    "NaN": (with_value(np.nan), "gave NaN for sample"),
    "infinity": (with_value(-np.inf), "gave infinity for sample"),
}
RANKERS = {
    "ReliefE": lambda embedding, **more: ReliefE(3, embedding=embedding, **more),
    "SURF": lambda embedding, **more: SURF(embedding=embedding, **more),
    "SURFStar": lambda embedding, **more: SURFStar(embedding=embedding, **more),
    "MultiSURF": lambda embedding, **more: MultiSURF(embedding=embedding, **more),
    "MultiSURFStar": lambda embedding, **more: MultiSURFStar(embedding=embedding, **more),
    "TuRF": lambda embedding, **more: TuRF(ReliefE(3, embedding=embedding, **more)),
    "VLS": lambda embedding, **more: VLS(SURF(embedding=embedding, **more), subset_size=4, random_state=0),
}


def message(said, n):
    said = said.replace("{n}", str(n)).replace("{less}", str(n - 1)).replace("{more}", str(n + 1))
    refused = r"^embedding: transform did not return a table of numbers for \d+ samples"
    return rf"{refused}: Answers {said}.*; expected are"


@pytest.mark.filterwarnings("error")
@pytest.mark.parametrize(("function", "said"), WRONG.values(), ids=WRONG)
@pytest.mark.parametrize("ranker", RANKERS.values(), ids=RANKERS)
def test_a_wrong_answer_for_all_rows(ranker, function, said):
    with pytest.raises(ValueError, match=message(said, N)):
        ranker(Answers(function), metric="euclidean").fit(X, Y)


@pytest.mark.filterwarnings("error")
@pytest.mark.parametrize(("function", "said"), WRONG.values(), ids=WRONG)
@pytest.mark.parametrize("metric", ["cosine", "manhattan"])
def test_a_wrong_answer_for_the_rows_after_the_representatives(metric, function, said):
    ranker = ReliefE(
        embedding=Answers(function, first=2), metric=metric, n_representatives=30, random_state=0
    )
    with pytest.raises(ValueError, match=message(said, N - 30)):
        ranker.fit(X, Y)


@pytest.mark.parametrize("n_columns", [1, 2, 4])
def test_another_number_of_columns_for_other_rows(n_columns):
    """One column would be copied into all of them."""
    other = Answers(lambda rows: np.hstack([rows, rows])[:, :n_columns], first=2)
    with pytest.raises(
        ValueError, match=rf"gave shape \(10, {n_columns}\); .* shape \(10, d\), d = 3 as before"
    ):
        ReliefE(embedding=other, n_representatives=30, random_state=0).fit(X, Y)


@pytest.mark.parametrize(
    "function",
    [
        lambda rows: rows.tolist(),
        pd.DataFrame,
        lambda rows: pd.DataFrame(rows).astype("Float64"),
        sp.csr_matrix,
        sp.coo_array,
        lambda rows: rows.astype(np.longdouble),
        lambda rows: rows.astype(object),
        lambda rows: np.ma.array(rows),
        np.asfortranarray,
    ],
)
@pytest.mark.parametrize("n_representatives", [30, N])
def test_right_answers_of_any_type(n_representatives, function):
    def fit(made):
        ranker = ReliefE(3, embedding=Answers(made), n_representatives=n_representatives, random_state=0)
        return ranker.fit(X, Y)

    found = fit(function)
    assert found.n_components_ == 3
    assert np.array_equal(found.feature_importances_, fit(lambda rows: rows).feature_importances_)


def test_one_column_for_all_rows_is_an_embedding():
    found = ReliefE(3, embedding=Answers(lambda rows: rows[:, :1]), metric="manhattan").fit(X, Y)
    assert found.n_components_ == 1 and np.isfinite(found.feature_importances_).all()


def test_umap_that_gives_nan_is_skipped_and_said_so(monkeypatch, caplog):
    from umap import UMAP

    def fit(self, X, y=None):
        self.embedding_ = np.full((X.shape[0], self.n_components), np.nan)
        return self

    monkeypatch.setattr(UMAP, "fit", fit)
    with caplog.at_level(logging.WARNING):
        ranker = ReliefE(3, random_state=0).fit(X, Y)
    assert ranker.n_components_ is None
    assert [
        r.getMessage() for r in caplog.records if "UMAP returned values that are not finite" in r.getMessage()
    ]
