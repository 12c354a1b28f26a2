"""Which learner the curve of ``rank`` is from: scores along a ranking and processor time, as Markdown.

For each data set the features are ranked in each fold of one cross-validation by MultiSURF (ReliefF above 2,000
samples, RReliefF for numbers); each learner is scored on the best 1, 2, 3, 5, 7, … features.

Run from the project root: ``python benchmarks/curve_learners.py [DATASET…]``
"""

from __future__ import annotations

import sys
import time
import warnings
from pathlib import Path

import numpy as np
from sklearn import datasets as bundled
from sklearn.ensemble import (
    HistGradientBoostingClassifier,
    HistGradientBoostingRegressor,
    RandomForestClassifier,
    RandomForestRegressor,
)
from sklearn.linear_model import Ridge
from sklearn.metrics import r2_score
from sklearn.model_selection import KFold, StratifiedKFold
from sklearn.preprocessing import MaxAbsScaler, MinMaxScaler

ROOT = Path(__file__).resolve().parents[1]
sys.path.insert(0, str(ROOT))

from experiments.datasets import synthetic  # noqa: E402
from experiments.learners import NestedLogisticRegression  # noqa: E402
from experiments.learners.forest import fit_predict  # noqa: E402
from experiments.learners.nearest_neighbours import neighbour_means  # noqa: E402
from reliefe import MultiSURF, ReliefF  # noqa: E402
from reliefe.ranking import descending_order  # noqa: E402

SIZES = [1, 2, 3, 4, 5, 7, 10, 14, 20, 30, 60, 100, 300, 1000, 3000]


def tables():
    """Yield name, X and y of each data set."""
    for name in ("wine", "breast_cancer", "digits", "diabetes"):
        X, y = getattr(bundled, f"load_{name}")(return_X_y=True)
        yield name, X, y.astype(float) if name == "diabetes" else y
    made = synthetic.epistasis(n_rows=800, n_noise=100)
    yield "epistasis, 2 of 102", np.asarray(made.X, float), np.asarray(made.labels).astype(int)
    rng = np.random.default_rng(0)
    y = np.arange(60) % 2
    X = rng.normal(size=(60, 3000))
    X[:, :10] += y[:, np.newaxis]
    yield "wide, 10 of 3000", X, y
    X = rng.normal(size=(5000, 60))
    y = (rng.random(5000) < 1 / (1 + np.exp(-2 * (X[:, 0] + X[:, 1] * X[:, 2])))).astype(int)
    yield "f0 + f1 · f2, 3 of 60", X, y
    made = synthetic.friedman1()
    yield "friedman1, 5 of 50", np.asarray(made.X, float), np.asarray(made.labels, float)


def predictions(learner, train, y, test, sizes):
    """Return what a learner predicts on the first columns, for each of their numbers."""
    numeric = y.dtype.kind == "f"
    if learner == "neighbours":
        scaler = MinMaxScaler().fit(train)
        targets = y[:, np.newaxis] if numeric else np.equal.outer(y, np.arange(y.max() + 1))
        means = neighbour_means(scaler.transform(train), scaler.transform(test), targets, sizes)
        return means[:, :, 0] if numeric else means.argmax(axis=2)
    if learner == "linear" and not numeric:
        scaler = MaxAbsScaler().fit(train)
        models = NestedLogisticRegression().path(scaler.transform(train), y, sizes)
        return [m.predict(scaler.transform(test)[:, :size]) for m, size in zip(models, sizes, strict=True)]
    if learner == "forest" and not numeric:
        forest = RandomForestClassifier(random_state=0)
        return [fit_predict(forest, train[:, :size], y, test[:, :size])[0] for size in sizes]
    boosting = HistGradientBoostingRegressor if numeric else HistGradientBoostingClassifier
    made = {
        "linear": lambda: Ridge(),
        "forest": lambda: RandomForestRegressor(random_state=0),
        "boosting": lambda: boosting(
            max_iter=30,
            max_leaf_nodes=15,
            min_samples_leaf=max(2, min(20, len(y) // 20)),
            early_stopping=False,
            random_state=0,
        ),
    }[learner]
    return [made().fit(train[:, :size], y).predict(test[:, :size]) for size in sizes]


def main():
    """Print the table."""
    warnings.simplefilter("ignore")
    learners = ["neighbours", "boosting", "forest", "linear"]
    columns = [f"{name}: {what}" for name in learners for what in ("best", "keep", "ms")]
    print("| data set | " + " | ".join(columns) + " |\n|" + "---|" * (len(columns) + 1))
    for name, X, y in tables():
        if sys.argv[1:] and not any(name.startswith(each) for each in sys.argv[1:]):
            continue
        numeric, n = y.dtype.kind == "f", len(X)
        ranker = ReliefF(target="regression") if numeric else MultiSURF() if n <= 2000 else ReliefF()
        sizes = [size for size in SIZES if size < X.shape[1]] + [X.shape[1]]
        splits = list((KFold if numeric else StratifiedKFold)(10, shuffle=True, random_state=0).split(X, y))
        splits = splits[: 3 if n > 2000 else 10]
        scores = {each: [] for each in learners}
        seconds = dict.fromkeys(learners, 0.0)
        predictions("forest", X[:50], y[:50], X[:5], [1])  # compiles
        predictions("neighbours", X[:50], y[:50], X[:5], [1])
        for train, test in splits:
            order = descending_order(ranker.fit(X[train], y[train]).feature_importances_)
            for each in learners:
                begun = time.process_time()
                found = predictions(each, X[train][:, order], y[train], X[test][:, order], sizes)
                seconds[each] += time.process_time() - begun
                score = r2_score if numeric else lambda true, predicted: np.mean(true == predicted)
                scores[each].append([score(y[test], predicted) for predicted in found])
        cells = []
        for each in learners:
            mean = np.mean(scores[each], axis=0)
            best = int(mean.argmax())
            least = mean[best] - np.std(scores[each], axis=0, ddof=1)[best] / np.sqrt(len(splits))
            keep = sizes[int(np.flatnonzero(mean >= least - 1e-12)[0])]
            cells += [f"{mean[best]:.3f}", str(keep), f"{seconds[each] / len(splits) / len(sizes) * 1e3:.1f}"]
        print(f"| {name} ({n} × {X.shape[1]}) | " + " | ".join(cells) + " |", flush=True)


if __name__ == "__main__":
    main()
