"""Rankers of other kinds (``study=field``): the order they give, and what their adapters promise."""

from contextlib import closing

import numpy as np
import pytest
import yaml
from scipy import sparse
from sklearn.metrics import mutual_info_score

from experiments import locate
from experiments.config.compose import PROJECT_ROOT, compose_runs
from experiments.errors import ConfigError
from experiments.evaluation.versions import versions
from experiments.rankers import rank
from experiments.rankers.contract import CHECKS, Outcome, check
from experiments.rankers.contract_checks import run_check
from experiments.rankers.information import JMI, MRMR
from experiments.rankers.isolation import Limits, SubprocessFitter
from experiments.rankers.scores import anova_f, chi2

pytestmark = pytest.mark.usefixtures("forked_fitters")

OTHERS = (
    "fast_select_relieff",
    "fast_select_multisurf",
    "mrmr",
    "jmi",
    "boruta",
    "anova_f",
    "chi2",
    "l1_logistic",
    "permutation_importance",
    "gradient_boosting",
)


def stated(name):
    return yaml.safe_load((PROJECT_ROOT / "conf" / "ranker" / f"{name}.yaml").read_text(encoding="utf-8"))


def telling(seed=0, n=150):
    """Eight columns: 1, 4 and 6 tell three classes apart, the others are noise; 7 is constant."""
    rng = np.random.default_rng(seed)
    y = rng.permutation(np.arange(n) % 3)
    X = rng.normal(size=(n, 8)) * [1, 1, 50, 1, 1, 0.01, 1, 0]
    for column, label in ((1, 0), (4, 1), (6, 2)):
        X[:, column] += 3 * (y == label)
    return X, y


@pytest.mark.parametrize("name", OTHERS)
def test_columns_that_tell_come_first(name):
    weights = rank(stated(name), *telling(), seed=0).weights
    assert set(np.argsort(-weights, kind="stable")[:3]) == {1, 4, 6}


@pytest.fixture(scope="module")
def first_tries():
    with closing(SubprocessFitter(Limits())) as fitter:
        yield fitter


@pytest.mark.parametrize("name", OTHERS)
def test_contract(name, first_tries):
    """Each check as in ``run.py check-ranker``, but in this process, whose imports all rankers share."""
    fewer = {
        "boruta": {"max_iter": 10, "n_estimators": 20},
        "gradient_boosting": {"n_estimators": 20},
        "permutation_importance": {"n_estimators": 15},
    }  # as good for this, and quicker
    block = {**stated(name), **fewer.get(name, {})}
    outcomes = [Outcome(each, *run_check(each, block, first_tries)[:2]) for each in CHECKS]
    assert not [each for each in outcomes if each.state in ("failed", "doubtful")]
    refused = {each.check for each in outcomes if each.state == "not applicable"}
    assert refused <= {"labels", "threads"}


def test_contract_in_another_process():
    states = {each.check: each.state for each in check(stated("anova_f"))}
    assert list(states) == list(CHECKS)
    assert {name for name, state in states.items() if state != "passed"} <= {"labels", "threads"}


def test_the_study_has_them_all():
    configs = compose_runs(["study=field"]).configs
    rankers = {config["ranker_key"] for config in configs}
    assert set(OTHERS) | {"relieff", "reliefe_absmean_adaptive", "multisurf"} <= rankers
    assert {config["protocol"]["name"] for config in configs} == {"field"}
    assert {config["dataset_key"] for config in configs} >= {"wine", "breast_cancer", "digits"}


def test_anova_is_in_the_order_of_f_and_finite():
    from sklearn.feature_selection import f_classif

    X, y = telling()
    X[:, 0] = y  # classes do not vary within themselves: F is infinite
    share = anova_f(X, y)
    F = f_classif(X[:, :7], y)[0]
    assert share[0] == 1.0 and share[7] == 0.0
    assert np.array_equal(np.argsort(-share[:7], kind="stable"), np.argsort(-F, kind="stable"))
    # η² by its definition
    column = X[:, 4]
    between = sum((y == each).sum() * (column[y == each].mean() - column.mean()) ** 2 for each in range(3))
    assert share[4] == pytest.approx(between / ((column - column.mean()) ** 2).sum())
    with pytest.raises(ValueError, match="two classes and more samples"):
        anova_f(X, np.zeros(len(X)))


def test_chi2_is_of_scaled_columns():
    X, y = telling()
    assert chi2(X, y) == pytest.approx(chi2(X * 7.0 - 3.0, y))
    scaled = (X[:, 1] - X[:, 1].min()) / np.ptp(X[:, 1])
    observed = np.array([scaled[y == each].sum() for each in range(3)])
    expected = scaled.sum() / 3
    assert chi2(X, y)[1] == pytest.approx(((observed - expected) ** 2 / expected).sum())


def codes(seed=0, n=400):
    rng = np.random.default_rng(seed)
    X = rng.integers(0, 3, (n, 6)).astype(float)
    X[:, 3] = X[:, 0]  # a copy: as relevant as the column, and nothing new
    y = (X[:, 0] + (rng.random(n) < 0.2) > 1).astype(int) + 2 * (X[:, 1] > 1).astype(int)
    return X, y


def greedy(X, y, gain):
    """The slow, obvious twin: the next column has the highest gain beside those picked before."""
    order = [int(np.argmax([mutual_info_score(column, y) for column in X.T]))]
    while len(order) < X.shape[1]:
        left = [each for each in range(X.shape[1]) if each not in order]
        scores = [gain(each, order) for each in left]
        order.append(left[int(np.argmax(np.round(scores, 9)))])
    return order


def test_jmi_picks_as_its_definition_says():
    X, y = codes()

    def gain(column, picked):
        pairs = [X[:, column] * 10 + X[:, other] for other in picked]
        return sum(mutual_info_score(pair, y) for pair in pairs)

    assert JMI().fit(X, y).order_.tolist() == greedy(X, y, gain)


def test_mrmr_puts_a_copy_behind():
    X, y = codes()

    def gain(column, picked):
        redundancy = [mutual_info_score(X[:, column], X[:, other]) for other in picked]
        return mutual_info_score(X[:, column], y) - np.mean(redundancy)

    ranker = MRMR().fit(X, y)
    assert ranker.order_.tolist() == greedy(X, y, gain)
    assert set(ranker.order_[:2]) in ({0, 1}, {1, 3})
    assert ranker.feature_importances_[ranker.order_].tolist() == pytest.approx(
        [1, 5 / 6, 4 / 6, 0.5, 2 / 6, 1 / 6]
    )


@pytest.mark.parametrize("ranker", [MRMR, JMI])
def test_bins_do_not_depend_on_a_column_s_scale(ranker):
    X, y = telling()
    assert np.array_equal(ranker().fit(X, y).order_, ranker().fit(X * [1, 9, 1, 2, 1, 5, 1, 1] + 4, y).order_)
    with pytest.raises(ValueError, match="n_bins=1: at least 2"):
        ranker(n_bins=1).fit(X, y)


def test_boruta_keeps_its_own_order():
    from experiments.rankers.all_relevant import Boruta

    X, y = telling()
    fitted = Boruta(max_iter=30, random_state=0).fit(X, y)
    assert set(np.flatnonzero(fitted.ranking_ == 1)) == {1, 4, 6}
    order = np.argsort(-fitted.feature_importances_, kind="stable")
    assert (np.diff(fitted.ranking_[order]) >= 0).all()


def test_labels_are_refused():
    X, y = telling()
    T = sparse.csr_matrix(np.column_stack([y == 0, y == 1]).astype(np.int8))
    for name in OTHERS:
        with pytest.raises((RuntimeError, ValueError), match=r"one class per sample|1d array"):
            rank(stated(name), X, T, seed=0)


@pytest.mark.parametrize(
    ("module", "name"), [("fast_select", "fast_select_relieff"), ("fast_select", "jmi"), ("boruta", "boruta")]
)
def test_a_missing_extra_says_what_to_install(module, name, monkeypatch):
    real = locate.importlib.import_module

    def without(wanted):
        if wanted.partition(".")[0] == module:
            raise ModuleNotFoundError(f"No module named {module!r}", name=module)
        if wanted in ("experiments.rankers.information", "experiments.rankers.all_relevant"):
            raise ModuleNotFoundError(f"No module named {module!r}", name=module)
        return real(wanted)

    monkeypatch.setattr(locate.importlib, "import_module", without)
    with pytest.raises(ConfigError, match=rf"{module}.*\n.*\.\[field\]"):
        locate.locate(stated(name)["_target_"])


def test_the_packages_behind_adapters_are_in_the_key():
    assert {"boruta", "experiments.rankers.all_relevant.Boruta"} <= set(versions(stated("boruta")))
    assert {"fast-select", "numba"} <= set(versions(stated("jmi")))
    assert {"fast-select"} <= set(versions(stated("fast_select_relieff")))
