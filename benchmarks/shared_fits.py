"""How many of a study's fits of the learner are on features that another ranker had in the same order.

For each data set of the study: the rankers on the first training fold, and the sequences of features along the
protocol's grid. Prints how many there are and how many are different, which is what is fitted with
``launcher.score_cache``; for learners that go on from fewer features to more, how many rankings are different.
``set`` is how many would be different if the order did not count. Then the processor time of a fold: ranking, and
the learner's fits, timed for the first rankers (``--timed``) and taken for the others by number of features.

Run from the project root: ``python benchmarks/shared_fits.py study=mlc dataset=medical protocol=paper``.
"""

from __future__ import annotations

import argparse
import sys
import tempfile
import time
from collections import defaultdict
from collections.abc import Sequence
from pathlib import Path

import numpy as np

ROOT = Path(__file__).resolve().parents[1]
sys.path.insert(0, str(ROOT))

from experiments.config.compose import compose_runs  # noqa: E402
from experiments.evaluation.cell import Cell  # noqa: E402
from experiments.evaluation.evaluate import _LearnerAlong as LearnerAlong  # noqa: E402
from experiments.evaluation.evaluate import _Part as Part  # noqa: E402
from experiments.evaluation.evaluate import fold_seed, make_learner  # noqa: E402
from experiments.evaluation.score_cache import names_of  # noqa: E402
from experiments.evaluation.splits import folds  # noqa: E402
from experiments.execution.study import Study  # noqa: E402
from experiments.metrics.relative_f1 import feature_grid  # noqa: E402
from experiments.printing import prepare_output  # noqa: E402
from experiments.rankers.fitting import Here  # noqa: E402
from experiments.rankers.instrumentation import one_thread  # noqa: E402
from reliefe.ranking import descending_order  # noqa: E402


def look(cells: Sequence[Cell], X, y, n_timed: int) -> None:
    """Print the lines of one data set."""
    first = cells[0]
    train, test = next(iter(folds(y, n_splits=first.n_splits, repeat=first.repeat, seed=first.seed)))
    n_classes = y.shape[1] if y.ndim == 2 else int(y.max()) + 1
    seed = fold_seed(first.seed, first.repeat, 0)
    part = Part(0, seed, n_classes, X[train], y[train], X[test], y[test], X[train])
    sizes = feature_grid(X.shape[1], first.grid_points)[:-1]
    nested = hasattr(make_learner(first.learner), "path")
    known: set[bytes] = set()
    orders, sets = [], set()
    n_fitted = 0.0
    ranking, warm, fits, cost = 0.0, set(), defaultdict(list), 0.0
    with tempfile.TemporaryDirectory() as memory, one_thread():
        fitter = Here(memory)
        for cell in cells:
            if cell.ranker_block["_target_"] not in warm:
                fitter.fit(cell.ranker_block, part.X_train, part.y_train, seed, warming=True)
                warm.add(cell.ranker_block["_target_"])
            start = time.process_time()
            fitted = fitter.fit(cell.ranker_block, part.X_train, part.y_train, seed)
            ranking += time.process_time() - start
            orders.append(descending_order(fitted.result.weights))
        for place, order in enumerate(orders):
            names = names_of(order, sizes, nested=nested)
            missing = [name not in known for name in names]
            if nested:
                missing = [any(missing)] * len(names)
            known.update(names)
            n_fitted += sum(missing)
            sets |= {frozenset(order[:size].tolist()) for size in sizes}
            if place < n_timed:
                along = LearnerAlong(first, part, order, sizes, timed=False)
                if place == 0:
                    along.score(sizes[0])  # compiles
                    along = LearnerAlong(first, part, order, sizes, timed=False)
                for size in sizes:
                    start = time.process_time()
                    along.score(size)
                    fits[size].append(time.process_time() - start)
            if fits:
                cost += sum(np.mean(fits[size]) for size, fit in zip(sizes, missing, strict=True) if fit)
    n = len(orders) * len(sizes)
    print(
        f"{first.dataset}: {len(orders)} rankers × {len(sizes)} numbers of features = {n} fits a fold; "
        f"{n_fitted:.0f} are different, {1 - n_fitted / n:.1%} looked up (set: {1 - len(sets) / n:.1%})"
    )
    if fits:
        whole = sum(np.mean(each) for each in fits.values())
        print(
            f"  processor seconds a fold: ranking {ranking:.1f}, learner {cost:.1f} instead of "
            f"{whole * len(orders):.1f} ({whole:.2f} a ranker)"
        )


def main(arguments: Sequence[str] | None = None) -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("run", nargs="+", help="arguments of a run")
    parser.add_argument("--timed", type=int, default=2, help="rankers whose fits are timed (default 2)")
    chosen = parser.parse_args(arguments)
    study = Study(compose_runs(chosen.run).configs)
    of_data: dict[str, list[Cell]] = defaultdict(list)
    for cell in study.cells.values():
        if cell.repeat == 0 and cell.kind == "ranking":
            of_data[cell.checksum].append(cell)
    for checksum, cells in of_data.items():
        look(cells, study.data[checksum].X, study.data[checksum].y, chosen.timed)


if __name__ == "__main__":
    prepare_output()
    main()
