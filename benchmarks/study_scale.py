"""What a study of very many tiny cells costs beyond the cells themselves.

Runs a synthetic study (settings × 100 repeats, on 24 samples × 4 columns) into an empty results folder with two
workers. By default a cell is one measurement, which takes 1 ms; all around it is real, and counts as overhead:
dispatch, rows, files, packs. With ``--rankings`` a cell is a ranking in 2 folds whose ranker takes 1 ms together,
and folds, warm-up, scaling, learner and scores count as overhead too. Prints

* the overhead per cell: wall clock from the first cell that ended to the last, over the number of cells, less 1 ms
  divided by the number of workers;
* the runner's resident memory as the study goes on;
* how long a new process takes to find out that nothing is missing, and then to read all rows into a frame.

Run from the project root: ``python benchmarks/study_scale.py [--cells 100000] [--backend loky|dask] [--rankings]``.
"""

from __future__ import annotations

import argparse
import os
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Sequence
from pathlib import Path

import numpy as np
import psutil
from sklearn.base import BaseEstimator, ClassifierMixin

ROOT = Path(__file__).resolve().parents[1]
sys.path.insert(0, str(ROOT))

from experiments.printing import prepare_output  # noqa: E402

MODULE = "benchmarks.study_scale"
N_REPEATS, N_SPLITS, N_WORKERS = 100, 2, 2
CELL_SECONDS = 1e-3
MIB = 2**20


def data():
    """24 samples × 4 columns, 2 classes."""
    from experiments.datasets.raw import RawData, numbered_names

    rng = np.random.default_rng(0)
    labels = np.arange(24) % 2
    X = rng.normal(size=(24, 4))
    X[:, 0] += labels
    return RawData(X, labels, numbered_names(4))


def busy(X, y, number=0):
    """Keep the processor busy for a fold's share of a cell; rank by the first column's spread."""
    end = time.perf_counter() + CELL_SECONDS / N_SPLITS
    weights = np.arange(X.shape[1], dtype=float)
    while time.perf_counter() < end:
        pass
    return weights


def measured(subject):
    """Keep the processor busy for a cell; measure nothing."""
    end = time.perf_counter() + CELL_SECONDS
    while time.perf_counter() < end:
        pass
    return {"seed": subject.seed}


class Constant(ClassifierMixin, BaseEstimator):
    """Predicts the first class."""

    def fit(self, X, y):
        """Take note of the classes."""
        self.classes_ = np.unique(y)
        return self

    def predict(self, X):
        """Give the first class for all."""
        return np.full(X.shape[0], self.classes_[0])


def configs(results: str, n_cells: int, backend: str, rankings: bool):
    """Make the configurations of the study, resolved."""
    return [
        {
            "dataset": {
                "name": "synthetic",
                "task": "multiclass",
                "source": {"_target_": f"{MODULE}.data"},
                "expected": {},
            },
            "ranker": {"_target_": f"{MODULE}.busy", "_partial_": True, "number": number},
            "protocol": {
                "name": "scale",
                "n_splits": N_SPLITS if rankings else 1,
                "n_repeats": N_REPEATS,
                "grid_points": 4,
                "learner": {"_target_": f"{MODULE}.Constant"} if rankings else {},
                "measure": {} if rankings else {"_target_": f"{MODULE}.measured"},
            },
            "paths": {"results": results, "local_data": results},
            "launcher": {"backend": backend, "n_workers": N_WORKERS},
            "seed": 0,
            "dataset_key": "synthetic",
            "ranker_key": f"busy_{number}",
        }
        for number in range(n_cells // N_REPEATS)
    ]


class Watching:
    """A listener that takes times, and now and then the memory of this process."""

    def __init__(self):
        self.began = time.perf_counter()
        self.found_missing = self.first_done = self.last_done = None
        self.n_done, self.memory = 0, []
        self._process = psutil.Process()

    def start(self, cells: Sequence, n_workers: int, at_work: Callable[[], list[str]]) -> None:
        """Begin."""
        self._every = max(1, len(cells) // 10)

    def done(self, cell, seconds: float) -> None:
        """Take note of a cell that ended."""
        self.last_done = time.perf_counter()
        if self.first_done is None:
            self.first_done = self.last_done
        self.n_done += 1
        if self.n_done % self._every == 0:
            self.memory.append(self._process.memory_info().rss / MIB)

    def note(self, text: str) -> None:
        """Print it; the first one says what is missing."""
        if self.found_missing is None:
            self.found_missing = time.perf_counter() - self.began
        print(f"  {text}", flush=True)

    def stop(self) -> None:
        """End."""


def stage(name: str, results: str, n_cells: int, backend: str, rankings: bool) -> None:
    """Run the study, or start it again when all is there."""
    from experiments.execution.runner import run_study

    asked = configs(results, n_cells, backend, rankings)
    watching = Watching()
    result = run_study(asked, n_workers=N_WORKERS, progress=watching)
    end = time.perf_counter()
    frame = result.frame
    assert len(frame) == n_cells * (N_SPLITS if rankings else 1) and (frame["status"] == "ok").all()
    if name == "again":
        print(f"finding what is missing   {watching.found_missing:8.2f} s")
        print(
            f"reading {len(frame)} rows into a frame {end - watching.began - watching.found_missing:8.2f} s"
        )
        print(f"memory at the end         {psutil.Process().memory_info().rss / MIB:8.0f} MiB")
        return
    wall = watching.last_done - watching.first_done
    each = wall / (watching.n_done - 1)
    print(f"cells                     {watching.n_done:8d} (scores of all features included)")
    print(f"wall clock                {wall:8.2f} s from the first cell to the last")
    print(f"wall clock a cell         {1000 * each:8.3f} ms")
    print(f"overhead a cell           {1000 * (each - CELL_SECONDS / N_WORKERS):8.3f} ms")
    print(f"memory of the runner      {' '.join(f'{mib:.0f}' for mib in watching.memory)} MiB")
    files = [path for path in Path(results).rglob("*.parquet")]
    size = sum(path.stat().st_size for path in files) / MIB
    print(f"files                     {len(files):8d}, {size:.1f} MiB")


def main(arguments: Sequence[str] | None = None) -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--cells", type=int, default=100_000)
    parser.add_argument("--backend", default="loky")
    parser.add_argument("--rankings", action="store_true")
    parser.add_argument("--stage", nargs=2, metavar=("NAME", "RESULTS"), help=argparse.SUPPRESS)
    chosen = parser.parse_args(arguments)
    if chosen.stage:
        stage(*chosen.stage, chosen.cells, chosen.backend, chosen.rankings)
        return
    paths = os.pathsep.join([str(ROOT), os.environ.get("PYTHONPATH", "")])
    with tempfile.TemporaryDirectory() as results:
        for name in ("run", "again"):
            command = [sys.executable, __file__, "--cells", str(chosen.cells), "--backend", chosen.backend]
            command += ["--rankings"] * chosen.rankings
            subprocess.run(
                [*command, "--stage", name, results], check=True, env={**os.environ, "PYTHONPATH": paths}
            )


if __name__ == "__main__":
    prepare_output()
    main()
