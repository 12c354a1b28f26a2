"""Where a study's time goes: rankers' fits, the learner's fits and predictions, and the framework's own rest.

Starts ``run.py`` as a process of its own with one worker and an empty results folder, takes the wall clock from
start to end (imports, loading, folds, scaling, scores, files, table and figure included), and subtracts what the
rows say the rankers (warm-up included) and the learner took.

Run from the project root: ``python benchmarks/framework_share.py [key=value ...]``; the default is ``dataset=digits
ranker=reliefe_absmean_adaptive,relieff,mutual_information protocol=paper protocol.n_repeats=2``.
"""

from __future__ import annotations

import subprocess
import sys
import tempfile
import time
from pathlib import Path

import pyarrow.parquet as pq

from experiments.printing import prepare_output

ROOT = Path(__file__).resolve().parents[1]
DEFAULT = [
    "dataset=digits",
    "ranker=reliefe_absmean_adaptive,relieff,mutual_information",
    "protocol=paper",
    "protocol.n_repeats=2",
]


def main(arguments):
    with tempfile.TemporaryDirectory() as folder:
        command = [sys.executable, str(ROOT / "run.py"), *arguments]
        command += ["launcher.n_workers=1", f"paths.results={folder}"]
        start = time.perf_counter()
        subprocess.run(command, check=True)
        wall = time.perf_counter() - start
        rankers = learner = 0.0
        for path in Path(folder, "rows").rglob("*.parquet"):
            rows = pq.read_table(
                path, columns=["fit_seconds", "warm_up_seconds", "learner_seconds"]
            ).to_pylist()
            rankers += sum((row["fit_seconds"] or 0.0) + (row["warm_up_seconds"] or 0.0) for row in rows)
            learner += sum(row["learner_seconds"] or 0.0 for row in rows)
    own = wall - rankers - learner
    print(f"\nrun.py {' '.join(arguments)}, one worker")
    print(f"wall clock        {wall:8.2f} s")
    print(f"rankers' fits     {rankers:8.2f} s  (warm-up included)")
    print(f"learner           {learner:8.2f} s")
    print(f"framework's own   {own:8.2f} s  = {100 * own / wall:.1f} %")


if __name__ == "__main__":
    prepare_output()
    main(sys.argv[1:] or DEFAULT)
