"""Fixtures shared by all tests."""

import os
import signal
import subprocess
from contextlib import suppress
from pathlib import Path
from types import SimpleNamespace

import numpy as np
import psutil
import pytest
from folders import PROJECT_ROOT
from server import DataServer
from waits import bounded, heed_interrupts

from experiments.datasets import download

#: Seconds that a test may take; the longest ones take one minute on an idle machine.
LONGEST = 1800.0
LOCAL_DATA = os.environ.get("RELIEFE_LOCAL_DATA")


def pytest_addoption(parser):
    parser.addoption(
        "--exhaustive", action="store_true", help="full products too, not one representative of each kind"
    )


def pytest_configure(config):
    """Let the workers of ``-n 2`` end at once with their runner when that is told to."""
    heed_interrupts()
    if os.name == "posix" and not hasattr(config, "workerinput"):
        signal.signal(signal.SIGTERM, _end_with_workers)


def _end_with_workers(number, frame):
    for child in psutil.Process().children(recursive=True):
        with suppress(psutil.NoSuchProcess):
            child.kill()
    signal.signal(number, signal.SIG_DFL)
    os.kill(os.getpid(), number)


def pytest_collection_modifyitems(config, items):
    """Leave full products out by default; put files with long tests first, so that workers end together."""
    if not config.getoption("--exhaustive"):
        products = [item for item in items if item.get_closest_marker("exhaustive")]
        config.hook.pytest_deselected(items=products)
        items[:] = [item for item in items if not item.get_closest_marker("exhaustive")]
    long = {
        item.path for item in items if item.get_closest_marker("slow") or item.get_closest_marker("cluster")
    }
    items.sort(key=lambda item: item.path not in long)


@pytest.hookimpl(wrapper=True)
def pytest_runtest_protocol(item):
    """Let no test wait for ever."""
    with bounded(LONGEST, item.nodeid):
        return (yield)


@pytest.fixture
def rng():
    return np.random.default_rng(20210310)


@pytest.fixture(scope="session")
def local_data():
    """Folder with the data sets that are not bundled: RELIEFE_LOCAL_DATA, or ``shared/data`` beside the project."""
    folder = Path(LOCAL_DATA) if LOCAL_DATA else PROJECT_ROOT.parent / "shared" / "data"
    if not folder.is_dir():
        pytest.skip(f"the local data folder {folder} is absent; set RELIEFE_LOCAL_DATA to where it is")
    return folder


@pytest.fixture(scope="session", autouse=True)
def own_cache(tmp_path_factory):
    """Downloads and parsed copies of the tests go to a folder of their own, and no test asks the internet."""
    folder = tmp_path_factory.mktemp("cache")
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("RELIEFE_CACHE", str(folder))
        patch.setenv("RELIEFE_OFFLINE", "1")
        patch.delenv("RELIEFE_LOCAL_DATA", raising=False)  # the tests say which folder they mean
        yield folder


@pytest.fixture
def server():
    """A server on this machine that lays files out as the public sources do; nothing else may be asked."""
    running = DataServer()
    yield running
    running.close()


@pytest.fixture
def cache(tmp_path, monkeypatch):
    """An empty cache; downloads are allowed, and given up soon."""
    monkeypatch.delenv("RELIEFE_OFFLINE", raising=False)
    monkeypatch.setattr(download, "WAIT", 0.01)
    monkeypatch.setattr(download, "TIMEOUT", 2.0)
    return tmp_path / "kept"


@pytest.fixture
def forked_fitters(monkeypatch):
    """Processes that fit are forked from one that has imported what they need. For tests of what they say."""
    import programs  # not for tests that start nothing

    from experiments.rankers import isolation

    start = SimpleNamespace(Popen=programs.start_fitter, PIPE=subprocess.PIPE)
    monkeypatch.setattr(isolation, "subprocess", start)


@pytest.fixture
def undrawn(monkeypatch):
    """Figures are made and not drawn: their files hold one point. For tests that look at other files."""
    from matplotlib.figure import Figure  # not for tests that draw nothing
    from PIL import Image

    point = Image.new("RGB", (1, 1))

    def save(figure, file, *, format, **settings):
        if format == "png":
            point.save(file, format)
        else:
            file.write(b"<svg></svg>")

    monkeypatch.setattr(Figure, "savefig", save)


@pytest.fixture
def computed_embeddings(monkeypatch):
    """Names of the functions that embed, one for each call while the test runs."""
    from reliefe import embedding

    calls = []
    for name in ("embed", "embed_targets"):
        function = getattr(embedding, name)

        def counted(*arguments, name=name, function=function, **settings):
            calls.append(name)
            return function(*arguments, **settings)

        monkeypatch.setattr(embedding, name, counted)
    return calls
