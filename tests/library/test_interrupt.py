"""A long fit can be stopped, and can show how far it is."""

import json
import signal
import subprocess
import sys
import time

import pytest
from folders import PROJECT_ROOT

PROGRAM = """
import json, sys, time
import numpy as np, scipy.sparse as sp
from reliefe import ReliefE, ReliefF
from sklearn.decomposition import TruncatedSVD

kind, n_jobs = sys.argv[1], int(sys.argv[2])
rng = np.random.default_rng(0)
n, p = {"dense": (25_000, 1_000), "wide": (2_500, 20_000), "sparse": (60_000, 3_000), "embedded": (60_000, 400),
        "adaptive": (25_000, 600), "labels": (25_000, 1_000)}[kind]
X = sp.random(n, p, 0.01, "csr", rng=rng) if kind == "sparse" else rng.random((n, p), dtype=np.float32)
y = rng.integers(0, 2, (n, 5)) if kind == "labels" else rng.integers(0, 5, n)
make = dict(n_jobs=n_jobs, n_neighbors="adaptive" if kind == "adaptive" else 15)
ranker = ReliefE(embedding=TruncatedSVD(30), **make) if kind == "embedded" else ReliefF(**make)
first = slice(0, 300)
ranker.fit(X[first], y[first])  # compiled from here on
print("ready", flush=True)
try:
    ranker.fit(X, y)
    print(json.dumps(None))
except KeyboardInterrupt:
    print(json.dumps(time.time()))
"""


def seconds_to_stop(kind, n_jobs):
    """Interrupt a fit that would take much longer; return how long it went on."""
    with subprocess.Popen(
        [sys.executable, "-c", PROGRAM, kind, str(n_jobs)],
        cwd=PROJECT_ROOT,
        stdout=subprocess.PIPE,
        text=True,
    ) as process:
        assert process.stdout.readline() == "ready\n"
        time.sleep(2)
        sent = time.time()
        process.send_signal(signal.SIGINT)
        stopped = json.loads(process.stdout.readline())
        assert stopped is not None, "the fit was over before it was interrupted"
    return stopped - sent


@pytest.mark.parametrize(
    ("kind", "n_jobs"),
    [
        ("dense", 1),
        ("dense", 2),
        ("wide", 1),
        ("sparse", 1),
        ("sparse", 2),
        ("embedded", 1),
        ("adaptive", 1),
        ("labels", 2),
    ],
)
def test_an_interrupt_ends_a_fit_within_a_second(kind, n_jobs):
    taken = []
    for _ in range(3):  # a busy machine may be slow once
        taken.append(seconds_to_stop(kind, n_jobs))
        if taken[-1] < 1.0:
            break
    assert min(taken) < 1.0, taken


BAR = """
import sys, tqdm
import numpy as np
from reliefe import ReliefE, ReliefF
from sklearn.decomposition import TruncatedSVD

real = tqdm.tqdm
def at_once(*args, **settings):
    assert settings.pop("delay") == 1.0
    return real(*args, mininterval=0, **settings)
tqdm.tqdm = at_once
X, y = np.random.default_rng(0).random((300, 8)), np.arange(300) % 3
verbose = sys.argv[1] == "yes"
ReliefF(verbose=verbose).fit(X, y)
ReliefE(embedding=TruncatedSVD(2), n_iterations=40, verbose=verbose).fit(X, y)
"""


@pytest.mark.parametrize("verbose", ["yes", "no"])
def test_verbose_draws_a_bar_that_reaches_the_end(verbose):
    run = subprocess.run(
        [sys.executable, "-c", BAR, verbose], cwd=PROJECT_ROOT, capture_output=True, text=True
    )
    assert run.returncode == 0, run.stderr
    assert run.stdout == ""
    if verbose == "no":
        assert run.stderr == ""
    else:
        assert "ReliefF: 100%" in run.stderr
        assert "ReliefE: 100%" in run.stderr
