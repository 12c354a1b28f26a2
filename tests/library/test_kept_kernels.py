"""Whether compiled kernels are on disk can be asked before anything is fitted."""

import io
import logging
import os
import subprocess
import sys
from types import SimpleNamespace

import pytest

from reliefe import _compiled

ASKED = "from reliefe._compiled import any_kept; print(any_kept())"
#: One small kernel of those that most rankers use.
COMPILED = "import numpy as np\nfrom reliefe.kernels.tiles import mirror\nmirror(0, 0, 2, np.zeros((2, 2)))\n"


def kept_in(folder, before=""):
    told = subprocess.run(
        [sys.executable, "-c", before + ASKED],
        env={**os.environ, "NUMBA_CACHE_DIR": str(folder)},
        capture_output=True,
        text=True,
        check=True,
    )
    return told.stdout.strip()


def test_a_kernel_that_was_compiled_is_found_by_the_next_process(tmp_path):
    assert kept_in(tmp_path) == "False"
    assert kept_in(tmp_path, COMPILED) == "True"
    assert kept_in(tmp_path) == "True"


def test_any_index_with_an_entry_counts(monkeypatch):
    def cache(index):
        def load():
            if isinstance(index, Exception):
                raise index
            return index

        return SimpleNamespace(_cache_file=SimpleNamespace(_load_index=load))

    _compiled.any_kept()  # imports the kernels, whose caches are not to come into the lists below
    for indexes, expected in (
        ([{}, {}], False),
        ([{}, {"signature": "file"}], True),
        ([OSError("unreadable"), {}], False),
        ([OSError("unreadable"), {"signature": "file"}], True),
    ):
        monkeypatch.setattr(_compiled, "_caches", [cache(each) for each in indexes])
        assert _compiled.any_kept() is expected
    monkeypatch.setattr(_compiled, "_caches", [])
    monkeypatch.setattr(_compiled, "_failures", [])
    assert _compiled.any_kept() is True  # nothing is compiled at all
    monkeypatch.setattr(_compiled, "_failures", ["no place"])
    assert _compiled.any_kept() is False


@pytest.mark.parametrize(
    ("level", "terminal", "prompt", "printed", "logged"),
    [
        (logging.WARNING, True, False, True, False),
        (logging.WARNING, False, True, True, False),  # an interactive session, such as a notebook
        (logging.WARNING, False, False, False, False),
        (logging.INFO, True, True, False, True),
    ],
)
def test_a_first_fit_that_compiles_says_so_once(
    monkeypatch, caplog, level, terminal, prompt, printed, logged
):
    stream = io.StringIO()
    stream.isatty = lambda: terminal
    monkeypatch.setattr(sys, "stderr", stream)
    monkeypatch.setattr(_compiled, "_compiling", [])
    monkeypatch.delattr(sys, "ps1", raising=False)
    if prompt:
        monkeypatch.setattr(sys, "ps1", ">>> ", raising=False)
    with caplog.at_level(level, logger="reliefe"):
        for _ in range(2):
            _compiled._tell_of_compiling()
    words = "compiling kernels, once per installation (half a minute or more)"
    assert stream.getvalue() == (f"reliefe: {words}\n" if printed else "")
    assert [each.getMessage() for each in caplog.records] == ([words] if logged else [])
