"""Compiled loops over flat arrays: no objects, no text, no randomness.

Each kernel has a slow, obvious twin in ``tests/support/naive.py``. All release the interpreter lock and take the
half-open range they are to work on, so that the caller decides how work is spread over threads; no result
depends on how it is spread.

Kernels are compiled once and kept on disk. Two things would make such copies wrong, and are ruled out here:

- A copy holds the code of the kernels it calls, but numba only looks at the file of the kernel itself. The copies
  are therefore tied to a fingerprint of all files of this package.
- numba's sorts are closures whose symbols carry a running number of the process that compiled them. Copies from two
  processes may give one name to two different sorts, and the linker then takes either. Kernels use
  :mod:`reliefe.kernels.sorting` instead of ``np.sort`` and ``np.argsort``.

numba compiles a kernel once more for each literal that another kernel hands it, and takes a variable that starts at
a literal for that literal until it has seen what becomes of it. What is handed on starts as ``np.int64(0)``
therefore, and flags are ``np.bool_(True)``: compiling ReliefF takes a fifth less.
"""

from __future__ import annotations

import hashlib
from contextlib import suppress
from pathlib import Path

from numba import njit

from reliefe._compiled import kept_where_possible

_FINGERPRINT = hashlib.sha256(
    b"".join(path.read_bytes() for path in sorted(Path(__file__).parent.glob("*.py")))
).hexdigest()
_INNER = "_"


def kernel(**options):
    """Compile a function when it is first called, and keep the result on disk where there is a place for it.

    Parameters
    ----------
    **options
        More options of ``numba.njit``.

    Returns
    -------
    callable
        A decorator.
    """

    def decorate(function):
        # No kernel is called from C, and those that begin with _ are called by other kernels alone.
        inner = function.__name__.startswith(_INNER)
        options.update(no_cfunc_wrapper=True, no_cpython_wrapper=inner)
        with kept_where_possible():
            dispatcher = njit(nogil=True, cache=True, **options)(function)
        with suppress(AttributeError):  # no cache where nothing is compiled
            file = dispatcher._cache._cache_file
            file._source_stamp = (file._source_stamp, _FINGERPRINT)
        return dispatcher

    return decorate
