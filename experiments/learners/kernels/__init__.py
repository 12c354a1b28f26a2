"""Compiled loops of the random forest: flat arrays in, flat arrays out, no objects, no text, nothing random.

They are compiled once and kept on disk, tied to a fingerprint of all files of this package: a copy holds the code
of the kernels it calls, but numba only looks at the file of the kernel itself. (The library's kernels do the same;
the benchmark imports nothing of the library, so that it measures it as any other package.)
"""

from __future__ import annotations

import hashlib
from contextlib import suppress
from pathlib import Path

from numba import njit

_FINGERPRINT = hashlib.sha256(
    b"".join(path.read_bytes() for path in sorted(Path(__file__).parent.glob("*.py")))
).hexdigest()

#: Divisions follow IEEE 754 without a check for zero, as in scikit-learn's compiled code; nothing is reordered.
_OPTIONS = {"nogil": True, "cache": True, "error_model": "numpy"}
#: Without counting references, which takes a third of the time where small functions are handed many arrays.
_UNCOUNTED = _OPTIONS | {"_nrt": False}
_UNKEPT = {"cache": False}

#: In the name, not only in the stamp: the index of an older copy cannot even be read when a type has gone.
_name_of_index = f"{{}}.{_FINGERPRINT[:16]}".format


def kernel(function):
    """Compile a function when it is first called, and keep the result on disk."""
    return _compiled(function, _OPTIONS)


def inner_kernel(function):
    """Compile a function that makes no arrays and calls none that does."""
    return _compiled(function, _UNCOUNTED)


def _compiled(function, options):
    try:
        dispatcher = njit(**options)(function)
    except RuntimeError:  # a read-only installation without a home folder: nowhere to keep compiled code
        return njit(**options | _UNKEPT)(function)
    with suppress(AttributeError):  # no cache where nothing is compiled
        file = dispatcher._cache._cache_file
        dispatcher._cache._cache_file = type(file)(
            file._cache_path, _name_of_index(file._index_name), file._source_stamp
        )
    return dispatcher
