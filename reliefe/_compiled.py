"""Where compiled code is kept between processes, and what to do where there is no place for it."""

from __future__ import annotations

import logging
import sys
import warnings
from contextlib import contextmanager

from numba.core import event
from numba.core.caching import FunctionCache, NullCache
from numba.core.dispatcher import Dispatcher
from numba.np.ufunc.ufuncbuilder import UFuncDispatcher

_NO_PLACE = "no locator available"  # numba's words
_LOCK = "numba:compiler_lock"  # numba's event
_COMPILING = "compiling kernels, once per installation (half a minute or more)"
_failures: list[str] = []  # why code could not be kept, once for all functions of a process
_told: list[bool] = []
_compiling: list[bool] = []
_caches: list = []
logger = logging.getLogger("reliefe")


class _Cache(FunctionCache):
    """numba's cache, but giving up without an error where a folder turns out not to be usable."""

    def load_overload(self, sig, target_context):
        """As numba's; None, so that the function is compiled, where a file cannot be read."""
        found = self._attempt(super().load_overload, sig, target_context)
        if found is None:
            _tell_of_compiling()
        return found

    def save_overload(self, sig, data):
        """As numba's; nothing where a file cannot be written."""
        self._attempt(super().save_overload, sig, data)

    def _attempt(self, call, *arguments):
        try:
            return call(*arguments)
        except OSError as error:
            self.disable()
            _failures.append(str(error))
            _tell()
        return None


def _cache_of(function):
    try:
        _caches.append(_Cache(function))
        return _caches[-1]
    except RuntimeError as error:
        if _NO_PLACE not in str(error):
            raise
    _failures.append("numba found no folder to write to")
    return NullCache()


def _keep(dispatcher):
    dispatcher._cache = _cache_of(dispatcher.py_func)


def _keep_ufunc(dispatcher):
    dispatcher.cache = _cache_of(dispatcher.py_func)


def any_kept():
    """Tell whether a process that starts now finds compiled code of any kernel on disk.

    Returns
    -------
    bool
        True too where nothing is compiled at all (numba switched off).
    """
    from reliefe.kernels import distances, thresholds, weights  # noqa: F401 - those of most rankers

    if not _caches:
        return not _failures
    for cache in _caches:
        try:
            if cache._cache_file._load_index():
                return True
        except Exception:  # of another version of numba, or not readable: a guess will do
            continue
    return False


class _Begun(event.Listener):
    happened = False

    def on_start(self, event):
        self.happened = True

    def on_end(self, event):
        pass


@contextmanager
def compilations():
    """Watch numba compile functions, or load compiled ones: whatever is called for the first time in a process.

    Yields
    ------
    object
        Its ``happened`` is True once a function was.
    """
    begun = _Begun()
    event.register(_LOCK, begun)
    try:
        yield begun
    finally:
        event.unregister(_LOCK, begun)


@contextmanager
def kept_where_possible():
    """Let functions that ask numba for a cache be compiled without one, where there is no place for it.

    Inside the block ``numba.njit(cache=True)`` and its kin raise no error in a read-only installation without a
    home folder. One warning a process says so, when the block ends.
    """
    before = Dispatcher.enable_caching, UFuncDispatcher.enable_caching
    Dispatcher.enable_caching, UFuncDispatcher.enable_caching = _keep, _keep_ufunc
    try:
        yield
    finally:
        Dispatcher.enable_caching, UFuncDispatcher.enable_caching = before
    _tell()


def _tell_of_compiling():
    """Say once a process that code is compiled that is kept for later ones.

    It is said on the logger "reliefe" where that shows it, else on standard error where a person may be waiting.
    """
    if _compiling:
        return
    _compiling.append(True)
    if logger.isEnabledFor(logging.INFO):
        logger.info(_COMPILING)
    elif sys.stderr is not None and (hasattr(sys, "ps1") or sys.stderr.isatty()):
        print(f"reliefe: {_COMPILING}", file=sys.stderr, flush=True)


def _tell():
    """Warn, unless there is nothing to say or it has been said."""
    if _failures and not _told:
        _told.append(True)
        warnings.warn(
            f"Compiled code cannot be kept on disk ({_failures[0]}); each process compiles it anew, which takes up "
            "to half a minute. Set the environment variable NUMBA_CACHE_DIR to a folder that can be written to.",
            RuntimeWarning,
            stacklevel=4,
        )
