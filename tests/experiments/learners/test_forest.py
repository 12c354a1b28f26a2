"""Random forests grown here are scikit-learn's: every tree, every threshold, every prediction."""

import logging
import tracemalloc

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from scipy import sparse
from sklearn.ensemble import ExtraTreesClassifier, RandomForestClassifier

from experiments import datasets
from experiments.config.compose import compose_runs
from experiments.learners import forest, random_forest
from experiments.learners.forest import LEARNER, OWN_TREES, fit_predict
from experiments.learners.random_forest import Forest, covers

#: Shapes of made-up features, by name.
KINDS = {
    "0/1": lambda rng, n, p: (rng.random((n, p)) < rng.random(p)).astype(float),
    "0/1 and the other way round": lambda rng, n, p: np.hstack(
        [one := (rng.random((n, p)) < 0.1).astype(float), 1 - one, one]
    ),
    "counts": lambda rng, n, p: np.where(rng.random((n, p)) < 0.15, rng.integers(-3, 6, (n, p)), 0.0),
    "few values": lambda rng, n, p: rng.integers(-1, 3, (n, p)).astype(float),
    "continuous": lambda rng, n, p: rng.normal(size=(n, p)),
    "nearly equal": lambda rng, n, p: (
        rng.integers(0, 5, (n, p)) * 6e-8 + np.where(rng.random((n, p)) < 0.3, 1.0, 0.0)
    ),
    "large and small": lambda rng, n, p: rng.choice([-1e30, -1e-30, 0.0, 1e-30, 2.5, 1e30], (n, p)),
    "mixed": lambda rng, n, p: np.hstack(
        [
            (rng.random((n, p)) < 0.1) * 1.0,
            rng.normal(size=(n, 2)),
            np.ones((n, 1)),
            np.where(rng.random((n, p)) < 0.1, rng.integers(-2, 4, (n, p)), 7.0),
        ]
    ),
}


def made_up(seed, kind, n, p, n_labels, repeats=False):
    """Features, labels (one of all rows, one of none, one of half), classes, rows to predict."""
    rng = np.random.default_rng(seed)
    X = KINDS[kind](rng, n, p)
    if repeats:
        X = X[rng.integers(0, max(1, n // 4), n)]
    labels = (rng.random((n, n_labels)) < rng.choice([0, 0.05, 0.3, 0.5, 1], n_labels)).astype(np.uint8)
    # Rows to predict have values that no row to learn from has.
    to_predict = X[rng.integers(0, n, 25)] + (rng.random((25, X.shape[1])) < 0.2) * rng.choice([0.5, 1.0])
    return X, labels, rng.integers(0, n_labels, n), to_predict


def assert_equal_trees(X, y, X_test, **parameters):
    """Every tree is scikit-learn's, node for node, and so are the predictions."""
    learner = RandomForestClassifier(**parameters)
    assert covers(learner, X, y, X_test)
    theirs = RandomForestClassifier(**parameters).fit(X, y)
    n_trees = 0
    for (tree, n_nodes), other in zip(Forest(learner, X, y).trees(), theirs.estimators_, strict=True):
        other = other.tree_
        assert n_nodes == other.node_count
        assert np.array_equal(tree.left[:n_nodes], other.children_left)
        assert np.array_equal(tree.right[:n_nodes], other.children_right)
        inner = other.children_left >= 0
        assert np.array_equal(tree.feature[:n_nodes][inner], other.feature[inner])
        assert np.array_equal(tree.threshold[:n_nodes][inner], other.threshold[inner])
        n_trees += 1
    assert n_trees == learner.n_estimators
    predicted, way = fit_predict(learner, X, y, X_test)
    expected = theirs.predict(X_test)
    assert way == OWN_TREES
    assert predicted.dtype == expected.dtype and np.array_equal(predicted, expected)
    return theirs


@pytest.mark.filterwarnings("ignore:The number of unique classes is greater than 50%")
@settings(max_examples=100, deadline=None, suppress_health_check=[HealthCheck.too_slow])
@given(data=st.data())
def test_every_tree_is_scikit_learns(data):
    draw = data.draw
    n = draw(st.sampled_from([1, 2, 3, 20, 64, 65, 100, 250]))
    p = draw(st.sampled_from([1, 2, 7, 25]))
    X, labels, classes, to_predict = made_up(
        draw(st.integers(0, 10**6)),
        draw(st.sampled_from(sorted(KINDS))),
        n,
        p,
        draw(st.sampled_from([2, 5, 70])),
        draw(st.booleans()),
    )
    keeps_lists = draw(st.sampled_from([None, True, False]))
    if draw(st.booleans()):
        X, to_predict = sparse.csr_matrix(X), sparse.csr_matrix(to_predict)
    with pytest.MonkeyPatch.context() as patch:
        if keeps_lists is not None:  # both ways of finding a node's rows of a feature
            patch.setattr(random_forest, "_worth_keeping", lambda *_: keeps_lists)
        assert_equal_trees(
            X,
            draw(st.sampled_from([labels, classes])),
            to_predict,
            n_estimators=2,
            random_state=draw(st.integers(0, 2**32 - 1)),
            bootstrap=draw(st.booleans()),
            max_features=draw(st.sampled_from(["sqrt", "log2", None, 1, 0.5])),
            max_depth=draw(st.sampled_from([None, 1, 4])),
            min_samples_leaf=draw(st.sampled_from([1, 1, 2, 6])),
            min_samples_split=draw(st.sampled_from([2, 2, 9])),
            min_impurity_decrease=draw(st.sampled_from([0.0, 0.0, 0.01])),
            n_jobs=draw(st.sampled_from([None, 2])),
        )


# --- what is left to scikit-learn ---


@pytest.mark.parametrize(
    "parameters",
    [
        {"criterion": "entropy"},
        {"class_weight": "balanced"},
        {"max_leaf_nodes": 5},
        {"max_samples": 0.5},
        {"ccp_alpha": 0.01},
        {"min_weight_fraction_leaf": 0.1},
        {"oob_score": True},
        {"random_state": np.random.RandomState(3)},
        {"min_samples_leaf": 0.1},
        {"warm_start": True},
    ],
)
@pytest.mark.filterwarnings("ignore:Some inputs do not have OOB scores")
def test_other_parameters_are_left_to_scikit_learn(parameters):
    X, _, classes, to_predict = made_up(1, "0/1", 40, 6, 3)
    learner = RandomForestClassifier(**{"n_estimators": 4, "random_state": 2, **parameters})
    assert not covers(learner, X, classes, to_predict)
    again = RandomForestClassifier(**learner.get_params())
    if not isinstance(again.random_state, int):
        again.random_state = np.random.RandomState(3)
    predicted, way = fit_predict(learner, X, classes, to_predict)
    assert way == LEARNER and np.array_equal(predicted, again.fit(X, classes).predict(to_predict))


def test_other_learners_and_data_are_left_to_scikit_learn():
    X, labels, classes, to_predict = made_up(1, "continuous", 40, 6, 3)
    learner = RandomForestClassifier(4, random_state=2)
    assert covers(learner, X, labels, to_predict) and covers(learner, X, classes, to_predict)
    with_gaps = X.copy()
    with_gaps[3, 2] = np.nan
    unlike = labels.astype(int) * 2  # labels of other values than 0 and 1
    assert not covers(ExtraTreesClassifier(4, random_state=2), X, labels, to_predict)
    twice = sparse.csr_matrix((np.ones(3), [1, 1, 2], np.r_[0, 2, np.full(39, 3)]), shape=X.shape)
    for data in (
        (twice, labels, sparse.csr_matrix(to_predict)),
        (with_gaps, labels, to_predict),
        (X, labels, with_gaps),
        (X * 1e300, labels, to_predict),
        (sparse.csr_matrix(X), labels, to_predict),
        (X, unlike, to_predict),
        (X, labels[:, :1], to_predict),
        (X, labels, to_predict[:0]),
        (X, labels, to_predict[:, :4]),
        (X[:0], labels[:0], to_predict),
        (X, classes.astype(str), to_predict),
    ):
        assert not covers(learner, *data)
    predicted, way = fit_predict(learner, with_gaps, labels, X)
    assert way == LEARNER
    assert np.array_equal(
        predicted, RandomForestClassifier(4, random_state=2).fit(with_gaps, labels).predict(X)
    )
    with pytest.raises(ValueError, match="has 4 features"):
        fit_predict(RandomForestClassifier(4, random_state=2), X, labels, to_predict[:, :4])


@pytest.fixture
def unchecked():
    forest.passes_self_check.cache_clear()
    yield
    forest.passes_self_check.cache_clear()


def test_the_check_passes_with_the_installed_scikit_learn_and_says_nothing(unchecked, caplog):
    assert forest.passes_self_check()
    assert not caplog.records


def test_trees_that_differ_leave_forests_to_scikit_learn_with_one_line(unchecked, monkeypatch, caplog):
    X, labels, _, to_predict = made_up(1, "continuous", 40, 6, 3)
    right = random_forest._n_drawn
    monkeypatch.setattr(random_forest, "_n_drawn", lambda wanted, n: min(right(wanted, n) + 1, n))
    expected = RandomForestClassifier(4, random_state=2).fit(X, labels).predict(to_predict)
    for _ in range(2):
        predicted, way = fit_predict(RandomForestClassifier(4, random_state=2), X, labels, to_predict)
        assert way == LEARNER and np.array_equal(predicted, expected)
    (record,) = caplog.records
    assert record.levelno == logging.WARNING
    assert "left to scikit-learn" in record.getMessage() and "0/1 values" in record.getMessage()


def test_a_check_that_fails_to_run_leaves_forests_to_scikit_learn(unchecked, monkeypatch, caplog):
    def broken(*_):
        raise RuntimeError("no such kernel")

    monkeypatch.setattr(random_forest, "describe_columns", broken)
    assert not forest.passes_self_check()
    assert "RuntimeError: no such kernel" in caplog.text


# --- many threads, many rows, real data ---


@pytest.mark.parametrize("kind", ["0/1", "counts", "continuous"])
@pytest.mark.parametrize("of", ["labels", "classes"])
def test_votes_do_not_depend_on_the_number_of_threads(kind, of):
    X, labels, classes, to_predict = made_up(5, kind, 300, 12, 6)
    if kind == "counts":
        X, to_predict = sparse.csr_matrix(X), sparse.csr_matrix(to_predict)
    rows = random_forest._rows_to_predict(to_predict)
    ones = [
        Forest(
            RandomForestClassifier(30, random_state=1, n_jobs=n_jobs),
            X,
            labels if of == "labels" else classes,
        ).votes(rows)
        for n_jobs in (1, 2, 5)
    ]
    assert ones[0][0].sum() > 0
    for votes, against in ones[1:]:
        assert np.array_equal(votes, ones[0][0]) and np.array_equal(against, ones[0][1])


@pytest.mark.parametrize("keeps_lists", [False, True])
@pytest.mark.parametrize("values", ["sparse, 0/1", "sparse, counts", "dense"])
def test_memory_is_what_the_module_says(values, keeps_lists, monkeypatch):
    rng = np.random.default_rng(0)
    n, m, n_labels, n_threads = 1000, 200, 20, 2
    if values == "dense":
        X = rng.normal(size=(n + m, 2000))
        n_stored, n_stored_test, of_features = n * 2000, m * 2000, 10
    else:
        most = 2 if values == "sparse, 0/1" else 5
        X = sparse.random(n + m, 10_000, 0.03, format="csr", random_state=1)
        X.data[:] = rng.integers(1, most, X.nnz)
        n_stored, n_stored_test, of_features = X[:n].nnz, X[n:].nnz, 24
    p = X.shape[1]
    labels = (rng.random((n, n_labels)) < 0.1).astype(np.uint8)
    monkeypatch.setattr(random_forest, "_worth_keeping", lambda *_: keeps_lists)
    learner = RandomForestClassifier(4, random_state=0, n_jobs=n_threads, max_depth=4)
    train, test = X[:n], X[n:]
    fit_predict(RandomForestClassifier(1, random_state=0), train[:70], labels[:70], test)  # compiled, checked
    tracemalloc.start()
    _, way = fit_predict(learner, train, labels, test)
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    thread = 220 * n + 12 * labels.sum() + 60 * p
    if keeps_lists:
        n_entries = n_stored if values != "dense" else 0
        thread += 24 * n_entries + 12 * p * np.log2(n)
    features = of_features * n_stored + 64 * p + 2 * 2**20
    assert way == OWN_TREES
    assert peak < features + n_threads * thread + 8 * n_stored_test + 16 * m * n_labels + 2**19
    if values != "dense" and not keeps_lists:
        assert peak < 4 * n * p / 4  # a quarter of a dense copy in 32 bits


def test_the_data_are_left_as_they_are():
    X, labels, _, to_predict = made_up(5, "counts", 100, 12, 6)
    for change in (np.asarray, sparse.csr_matrix):
        given_data = [change(X), labels.copy(), change(to_predict)]
        copies = [each.copy() for each in given_data]
        fit_predict(RandomForestClassifier(2, random_state=0), *given_data)
        for one, copy in zip(given_data, copies, strict=True):
            assert (one != copy).sum() == 0


@pytest.mark.parametrize("format", ["csr", "csc"])
def test_stored_zeros_and_features_out_of_order_are_nothing_else(format):
    X, labels, _, to_predict = made_up(7, "counts", 90, 12, 5)
    stored = sparse.csr_matrix(X)
    stored.data[::7] = 0.0
    order = np.random.default_rng(0).permutation(12)
    shuffled = stored[:, order]  # as after a ranking
    assert not shuffled.has_sorted_indices
    assert_equal_trees(
        shuffled.asformat(format),
        labels,
        sparse.csr_matrix(to_predict)[:, order],
        n_estimators=3,
        random_state=1,
    )


#: Data set: rows to learn from at most, trees.
REAL = {
    "medical": (None, 8),
    "emotions": (None, 8),
    "birds": (None, 8),
    "yeast": (None, 4),
    "scene": (None, 4),
    "bibtex": (None, 1),
    "science1": (None, 1),
    "delicious": (2500, 1),
    "imdb": (12_000, 1),
}


@pytest.mark.parametrize("name", REAL)
def test_every_tree_on_real_data_is_scikit_learns(name, local_data):
    n_at_most, n_trees = REAL[name]
    config = compose_runs([f"dataset={name}", "ranker=relieff", f"paths.local_data={local_data}"]).configs[0]
    data = datasets.load(config["dataset"], config["paths"]["local_data"])
    rng = np.random.default_rng(4)
    rows = rng.permutation(data.X.shape[0])
    n_train = min(n_at_most or len(rows), len(rows) * 4 // 5)
    train, test = np.sort(rows[:n_train]), np.sort(rows[n_train:][:300])
    order = rng.permutation(data.X.shape[1])
    labels = data.y.astype(np.uint8).toarray()
    for size in {10, 100, data.X.shape[1]} - ({100} if n_trees == 1 else set()):
        X = data.X[:, order[:size]]
        assert_equal_trees(X[train], labels[train], X[test], n_estimators=n_trees, random_state=size)
