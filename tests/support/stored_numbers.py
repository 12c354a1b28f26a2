"""Numbers of everything of the project's own that has a version of its numbers, as digests.

``python tests/support/stored_numbers.py`` writes ``tests/data/numbers.json`` again, after a version was raised.
"""

import hashlib
import json
import sys

import numpy as np
import yaml
from folders import DATA, PROJECT_ROOT
from scipy import sparse
from sklearn.datasets import load_breast_cancer, load_diabetes, load_digits, load_wine

if str(PROJECT_ROOT) not in sys.path:
    sys.path.insert(0, str(PROJECT_ROOT))

PROTOCOLS = PROJECT_ROOT / "conf" / "protocol"
FILE = DATA / "numbers.json"
#: Significant digits, relative to the largest absolute number: rounding differs between processors.
DIGITS = 9


class Projection:
    """An embedding whose numbers do not depend on other packages: fixed sums of features."""

    def fit(self, X, y=None):
        self.n_features_ = X.shape[1]
        return self

    def transform(self, X):
        X = X.toarray() if sparse.issparse(X) else np.asarray(X)
        places = np.arange(self.n_features_)
        return np.column_stack([X @ ((places * step) % 7 - 3.0) for step in (1, 2, 3)]) / self.n_features_


def datasets():
    """Six data sets that need no file: bundled ones, two values with labels, counts, and a numeric target."""
    rng = np.random.default_rng(5)
    labels = (rng.random((150, 6)) < 0.3).astype(int)
    words = (rng.random((150, 40)) < 0.2 + 0.3 * labels[:, :1]).astype(float)
    counts = sparse.csr_matrix(rng.poisson(0.4, size=(120, 60)).astype(float))
    digits = load_digits()
    return {
        "wine": load_wine(return_X_y=True),
        "breast_cancer": load_breast_cancer(return_X_y=True),
        "digits": (digits.data[:400], digits.target[:400]),
        "words": (words, labels),
        "counts": (counts, rng.integers(0, 3, 120)),
        "diabetes": load_diabetes(return_X_y=True),
    }


def rankers():
    """Name of a version → rankers whose weights it stands for."""
    import reliefe
    from experiments.rankers import all_relevant, information, scores

    relief = {"n_jobs": 1}
    return {
        "reliefe.ReliefF": [
            reliefe.ReliefF(**relief, **more)
            for more in (
                {},
                {"abs_mean": True},
                {"n_neighbors": "adaptive"},
                {"n_iterations": 50, "random_state": 0},
                {"compatible": "skrebate"},
            )
        ],
        "reliefe.ReliefE": [
            reliefe.ReliefE(embedding=Projection(), random_state=0, **relief, **more)
            for more in ({}, {"abs_mean": True, "n_neighbors": "adaptive"})
        ],
        "reliefe.SURF": [reliefe.SURF(**relief), reliefe.SURF(compatible="skrebate", **relief)],
        "reliefe.SURFStar": [reliefe.SURFStar(**relief)],
        "reliefe.MultiSURF": [
            reliefe.MultiSURF(**relief),
            reliefe.MultiSURF(compatible="skrebate", **relief),
        ],
        "reliefe.MultiSURFStar": [reliefe.MultiSURFStar(**relief)],
        "reliefe.TuRF": [reliefe.TuRF(reliefe.ReliefF(), random_state=0)],
        "reliefe.VLS": [reliefe.VLS(reliefe.ReliefF(), subset_size=0.5, random_state=0)],
        "experiments.rankers.all_relevant.Boruta": [all_relevant.Boruta(random_state=0)],
        "experiments.rankers.information.JMI": [information.JMI()],
        "experiments.rankers.information.MRMR": [information.MRMR()],
        "experiments.rankers.scores.ForestPermutation": [scores.ForestPermutation(random_state=0)],
        "experiments.rankers.scores.L1Logistic": [scores.L1Logistic(random_state=0)],
        "experiments.rankers.scores.anova_f": [scores.anova_f],
        "experiments.rankers.scores.chi2": [scores.chi2],
    }


def rankers_of_numbers():
    """As :func:`rankers`, of a numeric target."""
    import reliefe
    from experiments.rankers import scores

    return {
        "reliefe.ReliefF": [
            reliefe.ReliefF(target="regression", **more)
            for more in ({}, {"abs_mean": True}, {"n_neighbors": "adaptive"}, {"sigma": None})
        ],
        "reliefe.ReliefE": [
            reliefe.ReliefE(target="regression", embedding=Projection(), random_state=0, **more)
            for more in ({}, {"abs_mean": True, "n_neighbors": "adaptive"})
        ],
        "experiments.rankers.scores.ForestPermutationOfNumbers": [
            scores.ForestPermutationOfNumbers(n_estimators=20, random_state=0)
        ],
        "experiments.rankers.scores.linear_f": [scores.linear_f],
    }


#: Take labels.
OF_LABELS = ("reliefe.ReliefF", "reliefe.ReliefE")
#: Of these one small data set is enough: they take long, or take dense data only.
SLOW = ("all_relevant", "information", "ForestPermutation", "L1Logistic")


def weights(name, dataset):
    """Weights of all rankers of a version on a data set, one after the other; None where they do not take it."""
    X, y = datasets()[dataset]
    made = rankers_of_numbers() if y.dtype.kind == "f" else rankers()
    if name not in made or (y.ndim == 2 and name not in OF_LABELS):
        return None
    if any(part in name for part in SLOW) and dataset not in ("wine", "diabetes"):
        return None
    if name.startswith("experiments.") and sparse.issparse(X):
        X = X.toarray()  # they take dense data
    found = []
    for ranker in made[name]:
        if y.ndim == 2 and getattr(ranker, "compatible", None):
            continue
        if hasattr(ranker, "fit"):
            found.append(ranker.fit(X, y).feature_importances_)
        else:
            found.append(np.asarray(ranker(X, y), dtype=float))
    return np.concatenate(found)


def of_rankers(name):
    """Digests of a ranker's weights: data set → digest."""
    made = {dataset: weights(name, dataset) for dataset in datasets()}
    return {dataset: digest(each) for dataset, each in made.items() if each is not None}


def of_evaluation(name):
    """Digest of curves: of all features by task, and evaluation.ranking."""
    from experiments.evaluation.cell import cells_of
    from experiments.evaluation.evaluate import evaluate_all_features, evaluate_ranking

    made = {}
    of_all = name != "evaluation.ranking"
    for dataset in ("wine", "words", "counts", *(["diabetes"] if of_all else [])):
        X, y = datasets()[dataset]
        task = "multilabel" if y.ndim == 2 else "regression" if y.dtype.kind == "f" else "multiclass"
        if of_all and not name.endswith(task):
            continue
        protocol = {
            "name": "tiny",
            "n_splits": 3,
            "n_repeats": 1,
            "grid_points": 6,
            "learner": {"_target_": "experiments.learners.NestedLogisticRegression", "tol": 1e-8},
            "multilabel_learner": {"_target_": "sklearn.ensemble.RandomForestClassifier", "n_estimators": 5},
            "regression_learner": {"_target_": "sklearn.linear_model.Ridge"},
        }
        config = {
            "protocol": protocol,
            "ranker": {"_target_": "reliefe.ReliefF"},
            "ranker_key": "relieff",
            "dataset_key": dataset,
            "seed": 3,
        }
        y = sparse.csr_matrix(y) if y.ndim == 2 else y
        (cell,) = cells_of(config, checksum="0" * 64, task=task)
        whole = evaluate_all_features(cell.reference, X, y)
        result = evaluate_ranking(cell, X, y, whole.table) if name == "evaluation.ranking" else whole
        assert result.ok, result.frame["error"].tolist()
        columns = ["r2"] if task == "regression" else ["f1_micro", "f1_macro"]
        columns += [] if of_all else ["rf1_micro"]
        made[dataset] = digest(np.concatenate([np.concatenate(result.frame[each]) for each in columns]))
    return made


def of_learner(_):
    """Digest of the predictions of the logistic regression along an order of features."""
    from experiments.learners import NestedLogisticRegression

    made = {}
    for dataset in ("wine", "breast_cancer", "digits", "counts"):
        X, y = datasets()[dataset]
        X = X / np.maximum(np.abs(X).max(axis=0), 1e-300) if not sparse.issparse(X) else X
        predicted = []
        for size in (1, 5, X.shape[1]):
            predicted.append(NestedLogisticRegression(tol=1e-8).fit(X[:, :size], y).predict(X[:, :size]))
        made[dataset] = digest(np.concatenate(predicted).astype(float))
    return made


def of_measure(name):
    """Digests of what is measured, or of what a function gives that measures are made of."""
    from experiments.locate import locate

    if name.startswith("experiments."):
        return {"wine": digest(json.dumps(_rounded(_measured(name)), sort_keys=True))}
    function, made = locate(name), {}
    for dataset in ("wine", "digits", "words"):
        X, y = datasets()[dataset]
        made[dataset] = digest(np.concatenate(_parts(_called(name, function, X, y))))
    return made


def _called(name, function, X, y):
    if name.endswith("label_set_codes"):
        return function(sparse.csr_matrix(np.eye(10, dtype=int)[y] if y.ndim == 1 else y))
    if name.endswith("representatives"):
        codes = y if y.ndim == 1 else np.unique(y, axis=0, return_inverse=True)[1].ravel()
        return function(codes, 50, np.random.RandomState(0))
    if name.endswith("sparsify"):
        return function(X, random_state=np.random.RandomState(0))
    return function(X)


def _measured(name):
    """What a measure makes of wine; a made-up fit stands for the ranker's."""
    name = name.replace(
        "experiments.studies.", "experiments.evaluation.measurements."
    )  # keys know where it was
    from experiments.evaluation.measurements import Subject
    from experiments.rankers import RankResult, built_value

    files = [yaml.safe_load(file.read_text(encoding="utf-8")) for file in PROTOCOLS.glob("*.yaml")]
    (block,) = (each["measure"] for each in files if each.get("measure", {}).get("_target_") == name)
    X, y = datasets()["wine"]
    info = {"phase_seconds": {"b": 0.5, "a": 1.0}, "neighbors_used": [{1: 3, 4: 2}, {2: 5}, {3: 1}]}
    fitted = RankResult(np.linspace(1.0, 0.0, X.shape[1]), 0.5, info)
    ranker = {"_target_": "reliefe.ReliefE", "sparsify_above": 0.15, "n_representatives": 100}
    return built_value({**block, "_partial_": True})(Subject(X, y, 3, ranker, lambda: fitted, (0, 4)))


def _rounded(value):
    if isinstance(value, dict):
        return {key: _rounded(each) for key, each in value.items()}
    if isinstance(value, list | tuple):
        return [_rounded(each) for each in value]
    return f"{value:.{DIGITS}g}" if isinstance(value, float) else value


def _parts(value):
    if sparse.issparse(value):
        value = value.toarray()
    if isinstance(value, tuple | list):
        return [each for part in value for each in _parts(part)]
    if isinstance(value, dict):
        return [each for key in sorted(value) for each in _parts(value[key])]
    return [np.asarray(value, dtype=float).ravel()]


def digest(values):
    """SHA-256 of numbers to some digits, or of text."""
    if not isinstance(values, str):
        values = np.asarray(values, dtype=float)
        scale = np.abs(values[np.isfinite(values)]).max(initial=0.0) or 1.0
        values = json.dumps([f"{each:.{DIGITS}f}" for each in (values / scale + 0.0).tolist()])
        values = values.replace(f'"-{0:.{DIGITS}f}"', f'"{0:.{DIGITS}f}"')
    return hashlib.sha256(values.encode()).hexdigest()[:16]


def found(name):
    """Digests of what a version stands for."""
    if name.startswith("evaluation."):
        return of_evaluation(name)
    if name == "experiments.learners.NestedLogisticRegression":
        return of_learner(name)
    return of_rankers(name) if name in rankers() | rankers_of_numbers() else of_measure(name)


def main():
    from experiments.evaluation.versions import NUMBERS

    stored = {name: {"version": version, "digests": found(name)} for name, version in NUMBERS.items()}
    FILE.write_text(json.dumps(stored, indent=1) + "\n", encoding="utf-8")


if __name__ == "__main__":
    main()
