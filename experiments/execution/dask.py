"""Workers of dask: a cluster on this machine, one whose scheduler runs already, or jobs of SLURM."""

from __future__ import annotations

import logging
import os
import shutil
import sys
import tempfile
from collections import Counter
from collections.abc import Callable, Mapping
from concurrent.futures import Future
from contextlib import suppress
from typing import Any

import dask
import joblib
from distributed import Client, KilledWorker, LocalCluster
from joblib import parallel_config

from experiments.errors import ConfigError, LauncherError
from experiments.execution.executors import Executor
from experiments.formatting import first_line
from experiments.printing import prepare_output
from experiments.processes import THREAD_VARIABLES, end_tree

#: How long a scheduler may take to answer, seconds.
_ANSWERS_WITHIN = 10
#: How often someone who waits for the first worker is told so, seconds.
_TELL_EVERY = 60
_CLOSE_WITHIN = 3

#: A fit that holds the interpreter's lock keeps its worker from answering; that is no reason to take it for dead.
_SETTINGS = {"distributed.scheduler.worker-ttl": None, "distributed.comm.timeouts.connect": "5s"}


def cluster_executor(launcher: Mapping[str, Any], n_cells: int, tell: Callable[[str], None]) -> Executor:
    """Return the executor for ``launcher.backend`` "dask" or "slurm"; arguments as for ``executor_for``."""
    dask.config.set(_SETTINGS)
    # What matters is told by the errors here. dask gives levels to some loggers below its own.
    below = [name for name in logging.root.manager.loggerDict if name.startswith("distributed.")]
    for name in ("distributed", "tornado.application", "asyncio", *below):
        logging.getLogger(name).setLevel(logging.CRITICAL)
    if launcher["backend"] == "slurm":
        return _slurm(launcher, n_cells, tell)
    if launcher.get("scheduler"):
        return _found(str(launcher["scheduler"]))
    return _made_here(launcher, n_cells)


class WorkersError(LauncherError):
    """Nothing that was typed is wrong, but workers do not start."""

    exit_code = 1


class DaskExecutor:
    """Workers of a dask cluster; ``cluster`` is None where it is not this executor's to close."""

    is_local = False
    is_here = False
    #: dask gives the cell of a worker that died to another worker, until it has died with several.
    deaths: tuple[type[BaseException], ...] = (KilledWorker,)

    def __init__(self, client: Client, cluster: Any, n_workers: int, n_workers_here: int, n_threads: int):
        self._client = client
        self._cluster = cluster
        self._executor = client.get_executor(pure=False)
        self.n_workers = n_workers
        self.n_workers_here = n_workers_here
        self.n_at_once = 2 * n_workers  # so that no worker waits for the next call
        self.n_threads = n_threads

    def submit(self, function: Callable[..., Any], *arguments: Any) -> Future:
        """Hand out a call."""
        return self._executor.submit(_on_worker, function, *arguments)

    def abandon(self) -> None:
        """Stop at once; workers that were not started here finish the cell that they are at."""
        if isinstance(self._cluster, LocalCluster):
            for nanny in self._cluster.workers.values():
                nanny.auto_restart = False
                if nanny.pid is not None:
                    end_tree(nanny.pid)
        self.close()

    def close(self) -> None:
        """Close the connection, and the cluster if it was made here."""
        with suppress(Exception):  # whatever is wrong with a cluster now, the rows are written
            self._client.close(timeout=_CLOSE_WITHIN)
        if self._cluster is not None:
            with suppress(Exception):
                self._cluster.close(timeout=_CLOSE_WITHIN)


def _on_worker(function: Callable[..., Any], *arguments: Any) -> Any:
    prepare_output()
    # What a ranker or learner runs in parallel itself stays on its worker.
    with parallel_config(backend="threading", n_jobs=1):
        return function(*arguments)


def _made_here(launcher: Mapping[str, Any], n_cells: int) -> DaskExecutor:
    n_cores, n_threads = joblib.cpu_count(), launcher.get("n_threads")
    n_workers = min(launcher.get("n_workers") or max(1, n_cores // (n_threads or 1)), max(1, n_cells))
    n_threads = n_threads or max(1, n_cores // n_workers)
    settings = {
        "host": "127.0.0.1",
        "dashboard_address": None,
        "memory_limit": 0,  # the limit of a fit is another one
        "local_directory": tempfile.gettempdir(),
        **_stated(launcher),
    }
    try:
        cluster = LocalCluster(
            n_workers=n_workers,
            threads_per_worker=1,
            silence_logs=logging.CRITICAL,
            env=dict.fromkeys(THREAD_VARIABLES, str(n_threads)),
            **settings,
        )
    except (TypeError, ValueError) as error:
        raise ConfigError(f"launcher.cluster: dask's LocalCluster does not take this: {error}") from error
    except (OSError, RuntimeError) as error:
        raise WorkersError(f"workers of dask died while they started: {first_line(str(error))}") from error
    client = Client(cluster, set_as_default=False)
    return DaskExecutor(client, cluster, n_workers, n_workers, n_threads)


def _found(address: str) -> DaskExecutor:
    try:
        client = Client(address, timeout=_ANSWERS_WITHIN, set_as_default=False)
    except (OSError, ValueError) as error:
        raise LauncherError(
            f"no dask scheduler answers at {address} (launcher.scheduler): {error or type(error).__name__}"
        ) from error
    workers = client.scheduler_info(n_workers=-1)["workers"].values()
    if not workers:
        client.close()
        raise LauncherError(
            f"the dask scheduler {address} has no workers yet; start some: dask worker {address}"
        )
    if any(worker["nthreads"] != 1 for worker in workers):
        client.close()
        raise ConfigError(
            f"workers of the dask scheduler {address} run several cells in one process, so that neither memory nor "
            "threads of one could be told; start them with --nthreads 1 and as many --nworkers as you like"
        )
    of_host = Counter(worker["host"] for worker in workers)
    # What else runs on those machines is not known here, so a ranker gets one thread.
    return DaskExecutor(client, None, len(workers), max(of_host.values()), 1)


def _slurm(launcher: Mapping[str, Any], n_cells: int, tell: Callable[[str], None]) -> DaskExecutor:
    from dask_jobqueue import SLURMCluster
    from dask_jobqueue.slurm import SLURMJob

    for command in ("sbatch", "scancel"):
        if shutil.which(command) is None:
            raise LauncherError(
                f"launcher=slurm needs SLURM's command {command}, which is not on this machine"
            )
    settings = _stated(launcher)
    if not launcher.get("n_workers"):
        raise ConfigError("launcher=slurm needs the number of workers: launcher.n_workers=20")
    if not settings.get("memory"):
        raise ConfigError("launcher=slurm needs the memory of one job: launcher.cluster.memory=8GB")
    n_threads = launcher.get("n_threads") or 1
    per_job = int(settings.pop("processes", 1))
    n_workers = min(launcher["n_workers"], max(1, n_cells))
    refused: list[str] = []

    class TellingJob(SLURMJob):
        async def start(self):
            try:
                await super().start()
            except Exception as error:
                refused.append(" ".join(str(error).split()))
                raise

    class Cluster(SLURMCluster):
        job_cls = TellingJob

    try:
        cluster = Cluster(
            processes=per_job,
            cores=per_job,
            job_cpu=per_job * n_threads,
            job_script_prologue=[*_exports(n_threads), *settings.pop("job_script_prologue", ())],
            worker_extra_args=["--nthreads", "1", *settings.pop("worker_extra_args", ())],
            scheduler_options={
                "dashboard": False,
                "dashboard_address": None,
                **settings.pop("scheduler_options", {}),
            },
            **settings,
        )
    except (TypeError, ValueError) as error:
        raise ConfigError(
            f"launcher.cluster: dask-jobqueue's SLURMCluster does not take this: {error}"
        ) from error
    client = Client(cluster, set_as_default=False)
    executor = DaskExecutor(client, cluster, n_workers, per_job, n_threads)
    try:
        # As many at all times: jobs that came to the end of their time are replaced.
        n_jobs = -(-n_workers // per_job)
        cluster.adapt(minimum_jobs=n_jobs, maximum_jobs=n_jobs)
        _wait(client, refused, tell)
    except BaseException:
        executor.close()
        raise
    return executor


def _stated(launcher: Mapping[str, Any]) -> dict[str, Any]:
    return {key: value for key, value in (launcher.get("cluster") or {}).items() if value is not None}


def _wait(client: Client, refused: list[str], tell: Callable[[str], None]) -> None:
    """Wait for the first worker, however long the queue is."""
    waited = 0
    while not client.scheduler_info(n_workers=-1)["workers"]:
        if refused:
            raise LauncherError(f"SLURM does not take the job: {refused[0]}")
        if waited % _TELL_EVERY == 0:
            tell("jobs are submitted; waiting for SLURM to start the first worker")
        with suppress(TimeoutError):
            client.wait_for_workers(1, timeout=1)
        waited += 1


def _exports(n_threads: int) -> list[str]:
    """Return what a job must know that a fresh shell on another machine does not."""
    path = os.pathsep.join(os.path.abspath(each or ".") for each in sys.path)
    quoted = "'" + path.replace("'", "'\\''") + "'"
    return [f"export PYTHONPATH={quoted}"] + [f"export {name}={n_threads}" for name in THREAD_VARIABLES]
