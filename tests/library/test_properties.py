"""What must not change the weights, and what may: order of rows and columns, scale, storage, threads, precision.

Hypothesis draws shapes, parameters and a seed; numbers come from the seed. "continuous" data are checked to be free
of ties; "integers" are full of them, and an exact twin says where.
"""

from fractions import Fraction
from itertools import pairwise
from typing import NamedTuple

import naive
import numpy as np
import pytest
import scipy.sparse as sp
from hypothesis import assume, given, settings
from hypothesis import strategies as st
from neighbourhoods import found, search_among_columns, search_in_embedding
from samples import SAMPLES, GivenRows, LinearMap, assert_weights_equal, normalised
from sklearn.decomposition import PCA

from reliefe import ReliefE, ReliefF

DENSE_AND_SPARSE = pytest.mark.parametrize("storage", [np.array, sp.csr_matrix])


def examples(number):
    """The same examples in every run, none kept from an earlier one, none timed."""
    return settings(max_examples=number, deadline=None, derandomize=True, database=None)


class Problem(NamedTuple):
    X: np.ndarray
    target: np.ndarray  # classes (n,), or labels (n, q)
    exact: bool
    k: object
    abs_mean: bool
    distance: str  # between label sets
    space: str  # "columns" (ReliefF), "rows" or "pca" (ReliefE)
    metric: str

    @property
    def multilabel(self):
        return self.target.ndim == 2

    def ranker(self, embedding=None, **parameters):
        parameters |= {"n_neighbors": self.k, "abs_mean": self.abs_mean}
        if self.multilabel:
            parameters["target_distance"] = self.distance
        if self.space == "columns":
            return ReliefF(**parameters)
        return ReliefE(embedding=embedding, metric=self.metric, sparsify_above=1.0, **parameters)

    def fit(self, X=None, target=None, embedding=None, **parameters):
        X = self.X if X is None else X
        p = X.shape[1]
        if embedding is None:
            embedding = LinearMap(np.eye(p)) if self.space == "rows" else PCA(min(2, p), svd_solver="full")
        ranker = self.ranker(embedding, **parameters)
        return ranker.fit(X, self.target if target is None else target)

    def weights(self, *data, **parameters):
        return self.fit(*data, **parameters).feature_importances_

    def embedded(self):
        """Where ReliefE looks for neighbours, or for ReliefF the normalised rows."""
        Z = normalised(self.X)
        return PCA(min(2, Z.shape[1]), svd_solver="full").fit_transform(Z) if self.space == "pca" else Z

    def is_tie_free(self, least=1e-9):
        """No two distances, and no two gaps between them, are nearer to each other than ``least``."""
        measure = naive.METRICS["manhattan" if self.space == "columns" else self.metric]
        space = self.embedded().tolist()
        for i, row in enumerate(space):
            candidates = [[measure(row, other) for m, other in enumerate(space) if m != i]]
            if not self.multilabel:
                others = np.delete(self.target, i)
                candidates = [np.array(candidates[0])[others == c] for c in np.unique(others)]
            for distances in candidates:
                gaps = np.diff(np.sort(distances))
                if len(gaps) and min(gaps.min(), np.diff(np.sort(gaps)).min(initial=1.0)) < least:
                    return False
        return True


@st.composite
def problems(draw, values=("continuous", "integers"), spaces=("columns", "rows", "pca")):
    n, p = draw(st.integers(6, 14)), draw(st.integers(1, 6))
    kind, space = draw(st.sampled_from(values)), draw(st.sampled_from(spaces))
    if kind == "integers" and space == "pca":
        space = "rows"  # equal singular values leave the embedding open
    rng = np.random.default_rng(draw(st.integers(0, 10**6)))
    if kind == "integers":
        highest = rng.choice([1, 2, 3, 5, 7], p)
        X = rng.integers(-(highest // 2), highest + 1, size=(n, p)) * (rng.random((n, p)) < 0.7)
    else:
        X = rng.normal(size=(n, p)) + rng.choice([0.0, 4.0], p)
    if draw(st.booleans()):
        target = rng.permutation(np.append([0, 1], rng.integers(0, draw(st.integers(2, 4)), n - 2)))
    else:
        target = (rng.random((n, draw(st.integers(2, 5)))) < draw(st.sampled_from([0.2, 0.5]))).astype(int)
        target[0], target[1] = 0, 1  # a row without a label, and one with all
    return Problem(
        X.astype(float),
        target,
        kind == "integers",
        draw(st.sampled_from([1, 2, 3, 15, "adaptive"])),
        draw(st.booleans()),
        draw(st.sampled_from(sorted(naive.SET_DISTANCES))),
        space,
        draw(st.sampled_from(["euclidean", "manhattan"] + ["cosine"] * (p > 2 or space == "columns"))),
    )


def assert_same_bits(got, expected):
    assert np.asarray(got).tobytes() == np.asarray(expected).tobytes(), np.abs(got - expected).max()


# ----------------------------------------------------------------------------------------------- order of rows


@DENSE_AND_SPARSE
@examples(60)
@given(problem=problems(values=["continuous"]), seed=st.integers(0, 10**6))
def test_rows_without_ties_may_stand_in_any_order(storage, problem, seed):
    assume(problem.is_tie_free())
    order = np.random.default_rng(seed).permutation(len(problem.X))
    first = problem.fit(storage(problem.X))
    moved = problem.fit(storage(problem.X[order]), problem.target[order])
    np.testing.assert_allclose(moved.feature_importances_, first.feature_importances_, rtol=1e-10, atol=1e-12)
    if problem.k == "adaptive":
        np.testing.assert_array_equal(moved.n_neighbors_used_, first.n_neighbors_used_[order])


def _neighbour_sets(problem, X, codes, n_groups, storage):
    if problem.space == "columns":
        return found(search_among_columns(storage(X), codes, n_groups, problem.k))
    return found(search_in_embedding(normalised(X), problem.metric, codes, n_groups, problem.k))


def _assert_nearest_up_to_ties(distances, chosen, other):
    """Both sets are nearest rows, so that they differ only among rows as far away as the farthest one chosen."""
    tolerance = naive.tie_tolerance(distances.values())
    assert len(chosen) == len(set(chosen)) == len(set(other)) == len(other)
    if not chosen:
        assert not distances
        return
    order = sorted(distances, key=distances.get)
    farthest = distances[order[len(chosen) - 1]]
    for row in distances:
        if distances[row] < farthest - tolerance:
            assert row in chosen and row in other
        elif distances[row] > farthest + tolerance:
            assert row not in chosen and row not in other


def _weights_from(problem, neighbours, order):
    """Weights that follow from neighbour sets by the rule of the twin, in exact numbers."""
    z = naive.normalised(naive.table(problem.X[order], exact=True))
    target = problem.target[order].tolist()
    n = len(z)
    total = [Fraction(0)] * len(z[0])
    for i in range(n):
        if problem.multilabel:
            (near,) = neighbours[i]
            measure = naive.SET_DISTANCES[problem.distance]
            t = [measure(target[i], target[row]) for row in near]
            added = naive.multilabel_update(z, i, near, t, problem.abs_mean)
        else:
            priors = {c: Fraction(target.count(c), n) for c in set(target)}
            near = dict(enumerate(neighbours[i]))
            added = naive.multiclass_update(z, i, target, near, priors, problem.abs_mean)
        total = [w + a for w, a in zip(total, added, strict=True)]
    return np.array([float(w / n) for w in total])


@DENSE_AND_SPARSE
@examples(60)
@given(problem=problems(values=["integers"], spaces=["columns", "rows"]), seed=st.integers(0, 10**6))
def test_rows_with_ties_change_places_only_inside_ties(storage, problem, seed):
    """The order of the rows decides who of equally distant rows is a neighbour, and nothing else.

    Neighbour sets are compared before and after with exact distances, and the weights with what follows from the
    sets: whatever changes in the weights comes from ties.
    """
    n = len(problem.X)
    codes = np.zeros(n, dtype=int)
    if not problem.multilabel:
        problem = problem._replace(target=np.unique(problem.target, return_inverse=True)[1])
        codes = problem.target
    n_groups = codes.max() + 1
    order = np.random.default_rng(seed).permutation(n)
    place = np.argsort(order)  # where each row went
    before = _neighbour_sets(problem, problem.X, codes, n_groups, storage)
    after = _neighbour_sets(problem, problem.X[order], codes[order], n_groups, storage)
    in_columns = problem.space == "columns"
    space = (
        naive.normalised(naive.table(problem.X, exact=True)) if in_columns else problem.embedded().tolist()
    )
    measure = naive.METRICS["manhattan" if in_columns else problem.metric]
    for i in range(n):
        for q in range(n_groups):
            distances = {m: measure(space[i], space[m]) for m in np.flatnonzero(codes == q) if m != i}
            moved_back = order[after[place[i]][q]].tolist()
            _assert_nearest_up_to_ties(distances, before[i][q], moved_back)
    unmoved = np.arange(n)
    for rows, neighbours in ((unmoved, before), (order, after)):
        weights = problem.weights(storage(problem.X[rows]), problem.target[rows])
        assert_weights_equal(weights, _weights_from(problem, neighbours, rows))


def test_ties_do_make_the_order_of_rows_matter():
    """Else the test above would prove little: here sets and weights do change, ties going to the lower row."""
    X, y, _ = SAMPLES["symmetric_ties"]
    assert found(search_among_columns(X, y, 2, 3)) != [
        [sorted((26 - np.array(near)).tolist()) for near in sets]
        for sets in found(search_among_columns(X[::-1], y[::-1], 2, 3))[::-1]
    ]
    first, turned = (ReliefF(3).fit(X[::s], y[::s]).feature_importances_ for s in (1, -1))
    assert np.abs(first - turned).max() > 1e-3


# ---------------------------------------------------------------------------------------------------- columns


@DENSE_AND_SPARSE
@examples(60)
@given(problem=problems(), seed=st.integers(0, 10**6))
def test_weights_move_with_their_columns(storage, problem, seed):
    assume(problem.space != "pca" or problem.is_tie_free())
    order = np.random.default_rng(seed).permutation(problem.X.shape[1])
    moved = problem.weights(storage(problem.X[:, order]))
    assert_same_bits(moved, problem.weights(storage(problem.X))[order])


@DENSE_AND_SPARSE
@examples(60)
@given(
    problem=problems(), value=st.sampled_from([0.0, 1.0, 7.25, -1 / 3, 1e6, -1e-300]), place=st.integers(0, 6)
)
def test_a_constant_column_has_weight_0_and_changes_no_other(storage, problem, value, place):
    assume(problem.space != "pca" or problem.is_tie_free())
    place = min(place, problem.X.shape[1])
    weights = problem.weights(storage(np.insert(problem.X, place, value, axis=1)))
    assert weights[place] == 0.0
    assert_same_bits(np.delete(weights, place), problem.weights(storage(problem.X)))


@DENSE_AND_SPARSE
@examples(40)
@given(problem=problems(), seed=st.integers(0, 10**6))
def test_copies_of_a_column_have_equal_weights_and_follow_one_another(storage, problem, seed):
    rng = np.random.default_rng(seed)
    chosen = rng.integers(0, problem.X.shape[1], size=problem.X.shape[1] + 2)
    ranker = problem.fit(storage(problem.X[:, chosen]))
    for column in np.unique(chosen):
        copies = np.flatnonzero(chosen == column)
        assert len(set(ranker.feature_importances_[copies].tolist())) == 1
        assert (np.diff(ranker.ranking_[copies]) >= 1).all()


@DENSE_AND_SPARSE
@examples(40)
@given(problem=problems(), seed=st.integers(0, 10**6))
def test_powers_of_two_as_units_change_no_bit(storage, problem, seed):
    units = 2.0 ** np.random.default_rng(seed).integers(-40, 41, problem.X.shape[1])
    assert_same_bits(problem.weights(storage(problem.X * units)), problem.weights(storage(problem.X)))


@DENSE_AND_SPARSE
@examples(60)
@given(problem=problems(), seed=st.integers(0, 10**6))
def test_units_and_origins_do_not_matter(storage, problem, seed):
    """With ties too, as long as the origin moves by whole numbers: rounding is less than what counts as a tie.

    An embedding may see the origin (cosine does), so it is held still here.
    """
    assume(problem.exact or problem.is_tie_free())
    rng = np.random.default_rng(seed)
    p = problem.X.shape[1]
    origin = rng.integers(-9, 10, p) if problem.exact else rng.normal(size=p) * 9
    units = 10.0 ** rng.uniform(-6, 6, p) * rng.choice([-1, 1], p)
    held = GivenRows(problem.embedded())
    moved = problem.weights(storage((problem.X + origin) * units), embedding=held)
    expected = problem.weights(storage(problem.X), embedding=held)
    np.testing.assert_allclose(moved, expected, rtol=1e-10, atol=1e-12)


# --------------------------------------------------------------------------------- storage, threads, precision


@examples(80)
@given(problem=problems())
def test_dense_is_sparse(problem):
    dense, sparse = problem.fit(), problem.fit(sp.csr_matrix(problem.X))
    np.testing.assert_allclose(sparse.feature_importances_, dense.feature_importances_, rtol=0, atol=1e-12)
    if problem.k == "adaptive":
        np.testing.assert_array_equal(sparse.n_neighbors_used_, dense.n_neighbors_used_)


@DENSE_AND_SPARSE
@examples(40)
@given(problem=problems(), seed=st.integers(0, 10**6))
def test_threads_change_no_bit(storage, problem, seed):
    chosen = {"n_iterations": len(problem.X) // 2, "random_state": seed} if seed % 2 else {}
    one, two = (problem.weights(storage(problem.X), n_jobs=n_jobs, **chosen) for n_jobs in (1, 2))
    assert_same_bits(two, one)


@DENSE_AND_SPARSE
@examples(60)
@given(problem=problems())
def test_single_precision(storage, problem):
    """The numbers a float32 holds give the same bits in either type, and 1e-5 of what the unrounded numbers give.

    Rounding to float32 moves a value by 6e-8 of its size, so neighbours stay the same where no two distances, or
    gaps, are that close; integers this small it does not move at all.
    """
    rounded = problem.X.astype(np.float32)
    single = problem.weights(storage(rounded))
    assert_same_bits(single, problem.weights(storage(rounded.astype(np.float64))))
    if problem.exact:
        assert_same_bits(single, problem.weights(storage(problem.X)))
    else:
        assume(problem.is_tie_free(least=1e-5))
        np.testing.assert_allclose(single, problem.weights(storage(problem.X)), rtol=0, atol=1e-5)


@pytest.mark.parametrize("multilabel", [False, True])
def test_storage_and_threads_with_umap(multilabel):
    """UMAP amplifies last digits, so equal weights mean that it was shown equal ones."""
    rng = np.random.default_rng(120)
    X = rng.normal(size=(70, 3)) @ rng.normal(size=(3, 12)) * (rng.random((70, 12)) < 0.6)
    y = (X[:, :3] > 0.2).astype(int) if multilabel else (X[:, 0] > 0).astype(int)
    first = ReliefE(5, random_state=0).fit(X, y)
    assert first.n_components_ is not None and first.feature_importances_.std() > 0
    again = ReliefE(5, random_state=0, n_jobs=2).fit(X, y)
    assert_same_bits(again.feature_importances_, first.feature_importances_)
    sparse = ReliefE(5, random_state=0).fit(sp.csr_matrix(X), y)
    assert sparse.n_components_ == first.n_components_
    np.testing.assert_allclose(sparse.feature_importances_, first.feature_importances_, rtol=0, atol=1e-12)


# ------------------------------------------------------------------------------------------------- label sets


@examples(40)
@given(problem=problems().filter(lambda problem: problem.multilabel))
def test_label_matrices_in_any_storage(problem):
    T = problem.target
    expected = problem.fit()
    assert expected.classes_.tolist() == list(range(T.shape[1]))
    unsorted = sp.csr_matrix(T)
    for a, b in pairwise(unsorted.indptr):
        unsorted.indices[a:b] = unsorted.indices[a:b][::-1].copy()
    unsorted.has_sorted_indices = False
    stored_zeros = sp.csr_matrix(T.astype(float) + 1.0)
    stored_zeros.data -= 1.0
    for same in (
        sp.csr_matrix(T), sp.csc_array(T), sp.coo_matrix(T), unsorted, stored_zeros, T.astype(bool),
        np.asfortranarray(T, dtype=np.float32), T.astype(object), T.tolist(),
    ):  # fmt: skip
        assert_same_bits(problem.weights(None, same), expected.feature_importances_)


@pytest.fixture(scope="module")
def many_labels():
    """300 rows, 5,000 labels of which a row has about 5 and every tenth row none."""
    rng = np.random.default_rng(121)
    T = sp.random(300, 5000, density=0.001, random_state=rng, format="lil")
    T[T.nonzero()] = 1
    T[:, :3] = rng.random((300, 3)) < 0.3  # else hardly two rows would have a label in common
    T[::10] = 0
    return rng.normal(size=(300, 3)), sp.csr_matrix(T)


@pytest.mark.parametrize("abs_mean", [False, True])
@pytest.mark.parametrize("distance", naive.SET_DISTANCES)
def test_thousands_of_labels(distance, abs_mean, many_labels):
    X, T = many_labels
    assert T.shape == (300, 5000) and (np.diff(T.indptr)[::10] == 0).all()
    ranker = ReliefF(4, abs_mean=abs_mean, target_distance=distance, n_iterations=60, random_state=0).fit(
        X, T
    )
    rows = ranker.sample_indices_
    assert (rows % 10 == 0).any()
    expected, _ = naive.relieff_multilabel(X, T, 4, abs_mean, distance, rows=rows)
    assert_weights_equal(ranker.feature_importances_, expected)
    dense = ReliefF(4, abs_mean=abs_mean, target_distance=distance, n_iterations=60, random_state=0)
    assert_same_bits(dense.fit(X, T.toarray()).feature_importances_, ranker.feature_importances_)
