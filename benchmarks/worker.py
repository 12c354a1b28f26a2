"""A process that holds one implementation and does what it is asked, line by line.

Started by :mod:`benchmarks.processes` with the Python of the implementation: ``python worker.py IMPLEMENTATION``.
Requests and answers are JSON, one a line. ``open`` reads a data file, ``fit`` fits once, ``peak`` fits once and
says how far the resident memory rose, ``save`` writes the weights of the last fit.
"""

from __future__ import annotations

import importlib
import json
import os
import sys
import time
import traceback

import numpy as np
from scipy import sparse


def read_data(path, storage):
    """Return X (dense, or CSR) and y from a file of :meth:`benchmarks.workloads.Data.write`."""
    with np.load(path) as file:
        if "X" in file:
            X = file["X"]
        else:
            X = sparse.csr_matrix((file["data"], file["indices"], file["indptr"]), shape=tuple(file["shape"]))
        y = file["y"]
    if storage == "dense" and sparse.issparse(X):
        X = X.toarray()
    return X, y


def resident_bytes(field):
    """Return VmRSS or VmHWM of this process."""
    with open("/proc/self/status", encoding="ascii", errors="replace") as lines:
        return 1024 * int(next(line.split()[1] for line in lines if line.startswith(field + ":")))


class Session:
    """What the requests act on."""

    def __init__(self, implementation):
        start = time.perf_counter()
        self._adapter = importlib.import_module(f"adapters.{implementation}")
        self._import_seconds = time.perf_counter() - start
        self._job = None

    def hello(self):
        """Say who is there."""
        return {"versions": self._adapter.versions(), "import_seconds": self._import_seconds}

    def open(self, path, storage=None, settings=None, threads=1, warm_up=True):
        """Read data, make the ranker, and warm up so that nothing is left to compile.

        ``warm_up`` may be a number of rows to warm up on, where all of them would take minutes.
        """
        self._job = None
        X, y = read_data(path, storage)
        self._job = self._adapter.open_job(X, y, settings or {}, threads)
        start = time.perf_counter()
        if warm_up is True:
            self._job.warm_up()
        elif warm_up:
            self._adapter.open_job(X[:warm_up], y[:warm_up], settings or {}, threads).warm_up()
        return {"warm_up_seconds": time.perf_counter() - start if warm_up else None}

    def fit(self):
        """Fit once."""
        start = time.perf_counter()
        scaled = self._job.fit()
        measured = time.perf_counter() - start
        return {"seconds": measured if scaled is None else scaled, "notes": self._job.notes}

    def peak(self):
        """Fit once; the answer's bytes are None where the system cannot reset the high-water mark."""
        try:
            with open("/proc/self/clear_refs", "w", encoding="ascii") as file:
                file.write("5")
            before = resident_bytes("VmRSS")
        except OSError:
            before = None
        answer = self.fit()
        answer["peak_bytes"] = None if before is None else resident_bytes("VmHWM") - before
        return answer

    def save(self, path):
        """Write the weights of the last fit."""
        np.save(path, np.asarray(self._job.weights, dtype=np.float64))
        return {}


def main():
    # Whatever an implementation prints goes to the error stream; answers keep the real output for themselves.
    answers = os.fdopen(os.dup(1), "w", encoding="utf-8")
    os.dup2(2, 1)
    session = None
    for line in sys.stdin:
        request = json.loads(line)
        try:
            if session is None:
                session = Session(sys.argv[1])
            answer = getattr(session, request.pop("do"))(**request)
        except Exception as error:
            traceback.print_exc()
            answer = {"error": f"{type(error).__name__}: {error}".strip()}
        print(json.dumps(answer), file=answers, flush=True)


if __name__ == "__main__":
    main()
