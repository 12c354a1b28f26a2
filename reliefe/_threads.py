"""Spread a kernel over threads. Kernels release the interpreter lock, so plain threads run side by side."""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor

from joblib import effective_n_jobs


class Team:
    """A fixed number of threads that share the pieces of one range after another.

    Parameters
    ----------
    n_jobs : int or None
        As in scikit-learn: None is 1, −1 all cores.
    """

    def __init__(self, n_jobs=None):
        self.size = effective_n_jobs(n_jobs)
        self._pool = ThreadPoolExecutor(self.size) if self.size > 1 else None

    def __enter__(self):
        return self

    def __exit__(self, *exception):
        if self._pool is not None:
            self._pool.shutdown(cancel_futures=True)

    def split(self, kernel, length, *arguments):
        """Call ``kernel(lo, hi, *arguments)`` on as many even pieces of ``range(length)`` as there are threads."""
        n_pieces = min(self.size, length)
        self.each(
            kernel,
            [(length * i // n_pieces, length * (i + 1) // n_pieces) for i in range(n_pieces)],
            *arguments,
        )

    def each(self, kernel, pieces, *arguments, advance=None):
        """Call ``kernel(lo, hi, *arguments)`` on each of the given pieces; ``advance(hi - lo)`` as each is done."""
        if self._pool is None or len(pieces) <= 1:
            for lo, hi in pieces:
                kernel(lo, hi, *arguments)
                if advance is not None:
                    advance(hi - lo)
            return
        waiting = [self._pool.submit(kernel, lo, hi, *arguments) for lo, hi in pieces]
        for (lo, hi), future in zip(pieces, waiting, strict=True):
            future.result()
            if advance is not None:
                advance(hi - lo)


def pieces(length, size):
    """Cut ``range(length)`` into pieces of ``size``, the last one shorter."""
    return [(lo, min(length, lo + size)) for lo in range(0, length, size)]
