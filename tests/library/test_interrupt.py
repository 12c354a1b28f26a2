"""A long fit can be stopped, and can show how far it is."""

import json
import signal
import subprocess
import sys
import threading
import time

import pytest
from folders import PROJECT_ROOT

PROGRAM = """
import json, signal, sys, time
import numpy as np, scipy.sparse as sp
from reliefe import ReliefE, ReliefF
from sklearn.decomposition import TruncatedSVD

signal.signal(signal.SIGINT, signal.default_int_handler)  # whoever has started the tests may ignore it
rng = np.random.default_rng(0)
for each in sys.argv[1:]:
    kind, n_jobs = each.split()
    n, p = {"dense": (25_000, 1_000), "wide": (2_500, 20_000), "sparse": (60_000, 3_000), "embedded": (60_000, 400),
            "adaptive": (25_000, 600), "labels": (25_000, 1_000)}[kind]
    X = sp.random(n, p, 0.01, "csr", rng=rng) if kind == "sparse" else rng.random((n, p), dtype=np.float32)
    y = rng.integers(0, 2, (n, 5)) if kind == "labels" else rng.integers(0, 5, n)
    make = dict(n_jobs=int(n_jobs), n_neighbors="adaptive" if kind == "adaptive" else 15)
    ranker = ReliefE(embedding=TruncatedSVD(30), **make) if kind == "embedded" else ReliefF(**make)
    first = slice(0, 300)
    ranker.fit(X[first], y[first])  # compiled from here on
    print("ready", flush=True)
    try:
        ranker.fit(X, y)
        print(json.dumps(None), flush=True)
    except KeyboardInterrupt:
        print(json.dumps(time.time()), flush=True)
"""


def seconds_to_stop(kinds):
    """Interrupt fits that would take much longer; return how long each went on."""
    taken = {}
    with subprocess.Popen(
        [sys.executable, "-c", PROGRAM, *kinds], cwd=PROJECT_ROOT, stdout=subprocess.PIPE, text=True
    ) as process:
        unless_in_time = threading.Timer(600, process.kill)
        unless_in_time.start()
        try:
            for kind in kinds:
                assert process.stdout.readline() == "ready\n"
                time.sleep(1)
                sent = time.time()
                process.send_signal(signal.SIGINT)
                stopped = json.loads(process.stdout.readline())
                assert stopped is not None, f"{kind}: the fit was over before it was interrupted"
                taken[kind] = stopped - sent
        finally:
            process.kill()
            unless_in_time.cancel()
    return taken


def test_an_interrupt_ends_a_fit_within_a_second():
    """By kind and number of threads; all in one program, whose start takes longer than a fit here."""
    kinds = ["dense 1", "dense 2", "wide 1", "sparse 1", "sparse 2", "embedded 1", "adaptive 1", "labels 2"]
    least = seconds_to_stop(kinds)
    for _ in range(2):  # a busy machine may be slow once
        if slow := [kind for kind in kinds if least[kind] >= 1.0]:
            least |= seconds_to_stop(slow)
    assert set(least) == set(kinds) and max(least.values()) < 1.0, least


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
