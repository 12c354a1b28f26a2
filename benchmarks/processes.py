"""Start worker processes with fixed threads, ask them for fits in turn."""

from __future__ import annotations

import json
import os
import subprocess
import tempfile
from pathlib import Path

FOLDER = Path(__file__).resolve().parent
ROOT = FOLDER.parent
THREAD_VARIABLES = (
    "NUMBA_NUM_THREADS",
    "OMP_NUM_THREADS",
    "OPENBLAS_NUM_THREADS",
    "MKL_NUM_THREADS",
    "BLIS_NUM_THREADS",
    "VECLIB_MAXIMUM_THREADS",
    "NUMEXPR_NUM_THREADS",
    "LOKY_MAX_CPU_COUNT",
)
OURS = ("ours", "bare_umap")  # implementations that run in this project's own environment


class WorkerError(RuntimeError):
    """A worker could not do what it was asked."""


def environment(threads, ours, **extra):
    """Return environment variables for a process: fixed threads, and this project importable or not at all."""
    variables = {key: value for key, value in os.environ.items() if key not in ("PYTHONPATH", "PYTHONHOME")}
    variables.update({key: str(threads) for key in THREAD_VARIABLES})
    if ours:
        variables["PYTHONPATH"] = str(ROOT)
    variables.update(extra)
    return variables


class Worker:
    """A process with one implementation; a context manager.

    Parameters
    ----------
    implementation : str
        Name of a module in ``adapters``.
    python : str
        The Python it runs in.
    threads : int
        Number of threads, fixed before any library is loaded.
    **extra : str
        Further environment variables.
    """

    def __init__(self, implementation, python, threads, **extra):
        self.implementation = implementation
        self._errors = tempfile.TemporaryFile()
        self._process = subprocess.Popen(
            [str(python), str(FOLDER / "worker.py"), implementation],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=self._errors,
            text=True,
            encoding="utf-8",
            cwd=tempfile.gettempdir(),
            env=environment(threads, implementation in OURS, **extra),
        )
        self.threads = threads

    def __enter__(self):
        return self

    def __exit__(self, *exception):
        self.close()

    def ask(self, do, **request):
        """Send one request, return the answer.

        Raises
        ------
        WorkerError
            With what the process said, when it failed or ended.
        """
        try:
            self._process.stdin.write(json.dumps({"do": do, **request}) + "\n")
            self._process.stdin.flush()
            line = self._process.stdout.readline()
        except OSError:
            line = ""
        if not line:
            code = self._process.wait()
            self._errors.seek(0)
            said = self._errors.read().decode("utf-8", "replace").strip().splitlines()
            raise WorkerError(f"process ended with code {code}: {said[-1] if said else 'no message'}")
        answer = json.loads(line)
        if "error" in answer:
            raise WorkerError(answer["error"])
        return answer

    def open(self, path, settings=None, storage=None, warm_up=True):
        """Open a data file; see ``worker.Session.open``."""
        return self.ask(
            "open",
            path=str(path),
            settings=settings or {},
            storage=storage,
            threads=self.threads,
            warm_up=warm_up,
        )

    def close(self):
        """End the process."""
        if self._process.poll() is None:
            self._process.stdin.close()
            try:
                self._process.wait(timeout=30)
            except subprocess.TimeoutExpired:
                self._process.kill()
                self._process.wait()
        self._process.stdout.close()
        self._errors.close()
