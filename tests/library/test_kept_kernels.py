"""Whether compiled kernels are on disk can be asked before anything is fitted."""

import os
import subprocess
import sys
from types import SimpleNamespace

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
