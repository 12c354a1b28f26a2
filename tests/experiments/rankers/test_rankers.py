"""Rankers: every YAML file, and anything else with a fit, becomes weights."""

import random
from fractions import Fraction

import numpy as np
import pandas as pd
import pytest
import yaml
from scipy import sparse
from sklearn.base import BaseEstimator
from sklearn.datasets import load_wine
from sklearn.feature_selection import RFE
from sklearn.linear_model import LogisticRegression

from experiments.config.compose import PROJECT_ROOT, names
from experiments.rankers import ConfigError, RankerError, adapters, build, rank
from experiments.rankers.weights import checked_weights

CONF = PROJECT_ROOT / "conf" / "ranker"
RANKERS = names(CONF.parent, "ranker")


def stated(name):
    return yaml.safe_load((CONF / f"{name}.yaml").read_text())


def table(n=60, n_classes=3):
    """Column 0 tells the classes apart, column 2 is constant, column 4 has few values; the others are noise."""
    rng = np.random.default_rng(5)
    y = np.arange(n) % n_classes
    X = rng.normal(size=(n, 6))
    X[:, 0] = y + 0.1 * rng.normal(size=n)
    X[:, 2] = 3.0
    X[:, 4] = rng.integers(0, 3, size=n)
    return X, y


# --- rankers of this module, configured by their dotted names


class Spread:
    def __init__(self, power=1, helper=None):
        self.power = power
        self.helper = helper

    def fit(self, X, y):
        self.seen = X
        self.feature_importances_ = np.ptp(X, axis=0) ** self.power
        return self


class Answers(Spread):
    """Gives back what it was configured with."""

    def __init__(self, answer=None):
        self.answer = answer

    def fit(self, X, y):
        self.feature_importances_ = None if self.answer is None else np.array(self.answer)


class SortedSeries(Spread):
    """Best column first, as a table for people would be."""

    def __init__(self, names=None):
        self.names = names

    def fit(self, X, y):
        index = None if self.names is None else list(self.names)
        self.scores_ = pd.Series(np.ptp(X, axis=0), index=index).sort_values(ascending=False)


class Silent(Spread):
    def fit(self, X, y):
        return self


class Destroys(Spread):
    def fit(self, X, y):
        super().fit(X, y)
        X[...] = 0
        y[...] = 0


class SlowAround(Spread):
    """Slow everywhere but in ``fit``, by a clock of its own."""

    clock = 0.0

    def __init__(self, fit_takes=0.0):
        SlowAround.clock += 2.0
        self.fit_takes = fit_takes

    def fit(self, X, y):
        SlowAround.clock += self.fit_takes

    @property
    def feature_importances_(self):
        SlowAround.clock += 2.0
        return np.ones(6)


class Draws(Spread):
    def fit(self, X, y):
        self.feature_importances_ = np.random.random(X.shape[1]) + random.random()  # noqa: NPY002


class Seeded(Spread):
    def __init__(self, random_state=None):
        self.random_state = random_state

    def fit(self, X, y):
        self.feature_importances_ = np.full(X.shape[1], float(self.random_state))


class SeededEstimator(BaseEstimator):
    def __init__(self, random_state=None):
        self.random_state = random_state

    def fit(self, X, y):
        self.feature_importances_ = np.full(X.shape[1], float(self.random_state))
        return self


class Refuses(Spread):
    def __init__(self, value):
        raise ValueError(f"bad value {value}")


def means(X, y, shift=0.0, random_state=None):
    assert isinstance(X, np.ndarray)
    return X.mean(axis=0) + shift + (random_state or 0)


not_a_ranker = dict


def own(name, **settings):
    return {"_target_": f"{__name__}.{name}", **settings}


# --- every YAML file


@pytest.mark.parametrize("name", RANKERS)
def test_ranker_meets_the_contract(name):
    X, y = table()
    before = X.copy(), y.copy()
    block = stated(name)
    if name == "vls":
        block["subset_size"] = 0.5  # a fifth of six columns is one column, and distances in one say nothing
    result = rank(block, X, y, seed=3)
    assert result.weights.shape == (6,) and result.weights.dtype == np.float64
    assert np.isfinite(result.weights).all()
    assert result.fit_seconds > 0
    if "_star" not in name:  # far pairs cancel what a single column tells; made for interactions
        assert np.argmax(np.delete(result.weights, 2)) == 0, (
            "the column that tells the classes apart comes first"
        )
    assert np.array_equal(X, before[0]) and np.array_equal(y, before[1])
    again = rank(block, X, y, seed=3)
    assert np.array_equal(again.weights, result.weights), "one seed, one result"


@pytest.mark.parametrize("name", RANKERS)
def test_ranker_gives_sparse_rows_the_weights_of_dense_ones(name):
    X, y = table()
    X[:, [1, 3, 5]] *= np.random.default_rng(0).random((60, 3)) < 0.2
    X[:, 2] = 0
    dense = rank(stated(name), X, y, seed=3).weights
    thin = rank(stated(name), sparse.csr_matrix(X), y, seed=3).weights
    np.testing.assert_allclose(thin, dense, rtol=1e-9, atol=1e-12)


@pytest.mark.parametrize("name", RANKERS)
def test_ranker_bears_a_fold_that_lacks_a_class_and_has_another_once(name):
    X, y = table(40, 4)
    y[y == 1] = 2
    y[0] = 1
    keep = y != 0
    result = rank(stated(name), X[keep], y[keep], seed=0)
    assert np.isfinite(result.weights).all()


@pytest.mark.parametrize("name", ["reliefe", "relieff"])
def test_our_rankers_tell_more_than_weights(name):
    X, y = table(120)
    info = rank(stated(name), X, y, seed=0).info
    assert set(info["phase_seconds"]) and all(value >= 0 for value in info["phase_seconds"].values())
    if name == "reliefe":
        assert info["latent_dimension"] is None or info["latent_dimension"] >= 2


@pytest.mark.parametrize("name", [name for name in RANKERS if name.startswith("skrebate")])
def test_skrebate_does_not_take_many_classes_for_quantities(name):
    X, y = table(66, 11)
    with pytest.raises(RankerError, match=r"11 classes as a continuous target.*label_type=multiclass"):
        rank(stated(name), X, y, seed=0)
    weights = rank({**stated(name), "label_type": "multiclass"}, X, y, seed=0).weights
    assert np.isfinite(weights).all()
    assert np.isfinite(rank(stated(name), *table(60, 10), seed=0).weights).all()


# --- anything with a fit


def test_estimators_without_an_adapter():
    X, y = table()
    assert rank(own("Spread", power=2), X, y, 0).weights == pytest.approx(np.ptp(X, axis=0) ** 2)
    X = np.delete(X, 2, axis=1)
    selector = {"_target_": "sklearn.feature_selection.SelectKBest", "k": 2}
    assert np.argmax(rank(selector, X, y, 0).weights) == 0
    trees = {"_target_": "sklearn.tree.DecisionTreeClassifier"}
    assert np.argmax(rank(trees, X, y, 0).weights) == 0


def test_functions():
    X, y = table()
    expected = X.mean(axis=0) + 2.0 + 7
    for block in (own("means", _partial_=True, shift=2.0), own("means", shift=2.0)):
        for matrix in (X, sparse.csr_matrix(X)):
            assert rank(block, matrix, y, seed=7).weights == pytest.approx(expected)
    assert rank(own("means", random_state=1), X, y, seed=7).weights == pytest.approx(X.mean(axis=0) + 1)


def test_parameters_that_are_objects():
    built = build(own("Spread", helper={"_target_": f"{__name__}.Spread", "power": 4}))
    assert isinstance(built.helper, Spread) and built.helper.power == 4
    with pytest.raises(ConfigError, match="did you mean power"):
        build(own("Spread", helper={"_target_": f"{__name__}.Spread", "powr": 4}))


def test_densified_when_the_tags_do_not_say_sparse():
    X, y = table()
    seen = []

    class Recorder(Spread):
        def fit(self, X, y):
            seen.append(X)
            return super().fit(X, y)

    globals()["Recorder"] = Recorder
    rank(own("Recorder"), sparse.csc_matrix(X), y, 0)
    assert isinstance(seen[0], np.ndarray) and seen[0].flags.c_contiguous and seen[0].dtype == np.float64
    rank(own("Recorder"), X.astype(np.float32, order="F"), y, 0)
    assert seen[1].flags.c_contiguous and seen[1].dtype == np.float64


def test_a_ranker_cannot_change_what_the_learner_sees():
    X, y = table()
    for matrix in (X, np.ascontiguousarray(X)):
        kept = matrix.copy(), y.copy()
        rank(own("Destroys"), matrix, y, 0)
        assert np.array_equal(matrix, kept[0]) and np.array_equal(y, kept[1])


def test_clock_wraps_fit_alone(monkeypatch):
    X, y = table()
    monkeypatch.setattr(adapters.time, "perf_counter", lambda: SlowAround.clock)
    assert rank(own("SlowAround"), X, y, 0).fit_seconds == 0
    assert rank(own("SlowAround", fit_takes=0.25), X, y, 0).fit_seconds == 0.25
    assert SlowAround.clock == 8.25


def test_something_can_be_put_around_fit():
    X, y = table()
    events = []

    class Around:
        def __enter__(self):
            events.append("in")

        def __exit__(self, *exception):
            events.append("out")

    rank(own("Spread"), X, y, 0, around_fit=Around)
    assert events == ["in", "out"]


def test_seed_reaches_what_is_random_and_nothing_else():
    X, y = table()
    for name in ("Seeded", "SeededEstimator"):
        assert rank(own(name), X, y, seed=11).weights[0] == 11
        assert rank(own(name, random_state=2), X, y, seed=11).weights[0] == 2
    random.seed(1)
    np.random.seed(1)  # noqa: NPY002
    expected = random.random(), np.random.random()  # noqa: NPY002
    random.seed(1)
    np.random.seed(1)  # noqa: NPY002
    first = rank(own("Draws"), X, y, seed=4).weights
    assert (random.random(), np.random.random()) == expected, "the caller's generators go on undisturbed"  # noqa: NPY002
    # The generators are elsewhere by now, which must not matter.
    assert np.array_equal(first, rank(own("Draws"), X, y, seed=4).weights)
    assert not np.array_equal(first, rank(own("Draws"), X, y, seed=5).weights)


def test_coefficients_are_weights_by_their_size():
    X, y = load_wine(return_X_y=True)
    X = X / X.max(axis=0)
    for classes, n_rows in ((y, 3), ((y == 1).astype(int), 1)):
        block = {"_target_": "sklearn.linear_model.LogisticRegression", "C": 0.5}
        fitted = LogisticRegression(C=0.5).fit(X, classes)
        assert fitted.coef_.shape == (n_rows, 13)
        expected = [sum(abs(row[j]) for row in fitted.coef_) for j in range(13)]
        assert np.allclose(rank(block, X, classes, 0).weights, expected, rtol=1e-12)


def test_places_are_weights_the_other_way_round():
    X, y = load_wine(return_X_y=True)
    X = X / X.max(axis=0)
    estimator = {"_target_": "sklearn.linear_model.LogisticRegression", "C": 0.5}
    block = {"_target_": "sklearn.feature_selection.RFE", "estimator": estimator, "n_features_to_select": 1}
    places = RFE(LogisticRegression(C=0.5), n_features_to_select=1).fit(X, y).ranking_
    assert sorted(places) == list(range(1, 14))
    order = np.argsort(-rank(block, X, y, 0).weights)
    assert places[order].tolist() == list(range(1, 14))


# --- what goes wrong


class Coefficients(Answers):
    def fit(self, X, y):
        self.coef_ = self.answer


class Places(Answers):
    def fit(self, X, y):
        self.ranking_ = self.answer


@pytest.mark.parametrize(
    ("name", "answer", "says"),
    [
        ("Coefficients", [1.0, 2.0], r"coefficients \(coef_\) of shape \(1, 2\).* for 6 features"),
        ("Coefficients", ["a"] * 6, "type <U1 for 6 features; they must be real numbers"),
        ("Coefficients", [1.0, float("nan"), 1.0, 1.0, 1.0, 1.0], "not finite"),
        ("Coefficients", None, "has coef_, but it is None"),
        ("Places", [1, 2], r"\(ranking_\) gave weights of shape \(2,\)"),
        ("Places", None, "has ranking_, but it is None"),
    ],
)
def test_coefficients_and_places_that_are_none(name, answer, says):
    with pytest.raises(RankerError, match=says):
        rank(own(name, answer=answer), *table(), 0)


@pytest.mark.parametrize(
    ("answer", "says"),
    [
        ([1.0, float("nan"), 2.0, 3.0, float("inf"), 0.0], "2 of 6 weights .* first is nan for feature 1"),
        ([1.0, 2.0], r"shape \(2,\) for 6 features"),
        ([[1.0] * 6], r"shape \(1, 6\)"),
        (["a"] * 6, "no numbers"),
    ],
)
def test_weights_that_are_none(answer, says):
    X, y = table()
    with pytest.raises(RankerError, match=says):
        rank(own("Answers", answer=answer, display_name="Answers"), X, y, 0)


def test_no_weights_at_all():
    with pytest.raises(RankerError, match="neither feature_importances_, scores_, coef_ nor ranking_"):
        rank(own("Silent"), *table(), 0)
    with pytest.raises(RankerError, match="Answers has feature_importances_, but it is None"):
        rank(own("Answers", answer=None, display_name="Answers"), *table(), 0)


@pytest.mark.parametrize(
    ("given", "says"),
    [
        (["0.3", "0.1", "0.2"], "they hold text, such as '0.3'"),
        (np.array(["0.3", "0.1", "0.2"], dtype=object), "they hold text, such as '0.3'"),
        (pd.Series([0.3, "0.1", 0.2]), "they hold text, such as '0.1'"),
        (np.ma.masked_array([0.3, 0.1, 0.2], mask=[False, True, False]), "1 of them are masked"),
        (np.array([1j, 0, 0]), "complex"),
        (np.array([0.3, 0.1, 1j], dtype=object), "no numbers"),
        (np.array([0.3, None, 0.2], dtype=object), "no numbers|not finite"),
        (np.array([1, 2, 3], dtype="m8[s]"), "dates or times"),
        (pd.Series([0.3, None, 0.2], dtype="Float64"), "no numbers|not finite"),
        (sparse.csr_matrix([[0.3, 0.1, 0.2]]), "sparse matrix"),
        (None, "None instead of weights"),
        (
            pd.Series([0.3, 0.1, 0.2], index=["c", "a", "b"]),
            "under the labels 'c', 'a', 'b', which do not say",
        ),
        (pd.Series([0.3, 0.1, 0.2], index=[1, 2, 3]), "under the labels 1, 2, 3.* labels 0 to 2"),
        (pd.Series([0.3, 0.1, 0.2], index=[0, 1, 1]), "under the labels 0, 1, 1"),
        (pd.Series([0.3, 0.1, 0.2], index=[0.0, 1.0, 2.0]), "under the labels 0.0"),
        (pd.DataFrame({"weight": [0.3, 0.1, 0.2]}, index=["c", "a", "b"]), "under the labels 'c'"),
        (pd.DataFrame(np.zeros((3, 2))), r"shape \(3, 2\) for 3 features"),
        (pd.Series([0.3, 0.1], index=["c", "a"]), r"shape \(2,\) for 3 features"),
        ({"c": 0.3, "a": 0.1, "b": 0.2}, "under the labels 'c'"),
        ({0: 0.3, 1: "0.1", 2: 0.2}, "they hold text"),
    ],
)
def test_odd_weights_are_refused_and_not_read_as_something_else(given, says):
    with pytest.raises(RankerError, match=f"odd gave .*({says})"):
        checked_weights(given, "odd", 3)


@pytest.mark.parametrize(
    "given",
    [
        pd.Series([0.3, 0.1, 0.2], index=[2, 0, 1]),
        pd.Series([0.1, 0.2, 0.3]).sort_values(ascending=False),
        pd.DataFrame({"weight": [0.3, 0.1, 0.2]}, index=[2, 0, 1]),
        {2: 0.3, 0: 0.1, 1: 0.2},
        {np.int64(2): 0.3, np.int64(0): 0.1, np.int64(1): 0.2},
        pd.Series([0.1, 0.2, 0.3], dtype="Float64"),
        np.ma.masked_array([0.1, 0.2, 0.3]),
        np.array([0.1, 0.2, 0.3], dtype=object),
        [np.float64(0.1), Fraction(1, 5), 0.3],
    ],
    ids=str,
)
def test_labels_of_weights_are_positions_of_columns(given):
    found = checked_weights(given, "odd", 3)
    assert found.dtype == np.float64 and found.tolist() == pytest.approx([0.1, 0.2, 0.3])


def test_a_mask_of_chosen_columns_counts_as_zeros_and_ones():
    assert checked_weights(np.array([True, False]), "mask", 2).tolist() == [1.0, 0.0]


def test_weights_sorted_by_value_reach_their_own_columns():
    """In the evaluation, not only in a helper."""
    X, y = table()
    assert rank(own("SortedSeries"), X, y, 0).weights == pytest.approx(np.ptp(X, axis=0))
    with pytest.raises(RankerError, match="SortedSeries gave weights under the labels"):
        rank(own("SortedSeries", names="abcdef", display_name="SortedSeries"), X, y, 0)


def test_errors_of_a_fit_come_through_unchanged():
    with pytest.raises(ValueError, match="n_estimators"):
        rank({**stated("random_forest"), "n_estimators": -1}, *table(), 0)


@pytest.mark.parametrize(
    ("block", "says"),
    [
        ({"_target_": "reliefe.ReliefF", "n_neigbors": 5}, "'n_neigbors'; did you mean n_neighbors"),
        ({**stated("mutual_information"), "n_neighbor": 5}, "'n_neighbor'; did you mean n_neighbors"),
        ({**stated("mutual_information"), "X": 5}, "unknown parameter"),
        (own("Spraed"), "did you mean Spread"),
        (own("Refuses", value=3), "cannot be made: ValueError: bad value 3"),
        (own("not_a_ranker"), r"no fit\(X, y\)"),
        ({"_target_": "reliefe.ReliefF", "n_neighbors": 0}, "refuses its parameters: n_neighbors .* got 0"),
        ({"_target_": "reliefe.ReliefE", "metric": "cosin"}, "refuses its parameters: metric must be one of"),
        ({"_target_": "reliefe.MultiSURF", "n_jobs": 0}, "refuses its parameters: n_jobs"),
        ({"_target_": "reliefe.TuRF", "removed": 2.5}, "refuses its parameters: removed"),
        (
            {"_target_": "reliefe.VLS", "estimator": {"_target_": "reliefe.SURF", "compatible": "no"}},
            "refuses its parameters: compatible",
        ),
        ({"display_name": "x"}, "no _target_"),
        ({"_target_": "sklearn"}, "dotted name"),
    ],
)
def test_wrong_configuration(block, says):
    with pytest.raises(ConfigError, match=says):
        build(block)
