"""One fit of a ranker: where it takes place, within what limits, and what comes of it."""

from __future__ import annotations

import os
from collections import Counter
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import Any, Protocol

from joblib import Memory

from experiments.rankers import RankResult, rank
from experiments.rankers.instrumentation import Compilation, Noise, PeakMemory, one_thread

_ERROR_LENGTH = 2000
#: Embeddings that were not used for the longest time go when they need more disk than this.
_MEMORY_BYTES = 2 * 2**30


@dataclass(frozen=True)
class Limits:
    """How far the fit of one fold may go.

    Attributes
    ----------
    seconds : float or None
        Wall clock; None = any.
    memory_mib : float or None
        Resident memory of the process that fits, data and libraries included, and of the processes it starts;
        None = any.
    """

    seconds: float | None = None
    memory_mib: float | None = None

    def __bool__(self):
        return self.seconds is not None or self.memory_mib is not None


@dataclass
class Fitted:
    """A fit that ended well.

    Attributes
    ----------
    result : RankResult
        The weights, and what the ranker says of itself.
    peak_memory_mib : float or None
        Resident high-water mark of its process; None also where a part of the fit came from a cache.
    warnings : Counter
        (kind, first line) → how often.
    compiled : bool
        Whether functions were compiled, or compiled ones loaded, during the fit.
    """

    result: RankResult
    peak_memory_mib: float | None
    warnings: Counter = field(default_factory=Counter)
    compiled: bool = False


class FitEnded(Exception):
    """A fit in another process that gave no weights.

    Parameters
    ----------
    error : str
        For the row: "Type: message".
    status : str
        For the row: "failed", "timeout" or "out_of_memory".
    made : bool, default=True
        Whether the ranker could be made in time. If not, the other folds of its cell are not tried.
    """

    def __init__(self, error: str, status: str = "failed", made: bool = True):
        super().__init__(error)
        self.error = error
        self.status = status
        self.made = made


def described(error: BaseException) -> dict[str, str]:
    """Say what became of a fold that raised, for its row.

    Parameters
    ----------
    error : exception
        From the fit or the learner.

    Returns
    -------
    dict
        ``status`` and ``error``. Memory that the system refuses is "out_of_memory" with or without a limit.
    """
    if isinstance(error, FitEnded):
        return {"status": error.status, "error": error.error[:_ERROR_LENGTH]}
    status = "out_of_memory" if isinstance(error, MemoryError) else "failed"
    return {"status": status, "error": f"{type(error).__name__}: {error}"[:_ERROR_LENGTH]}


class Fitter(Protocol):
    """Where rankers are fitted: :class:`Here`, or :class:`experiments.rankers.isolation.SubprocessFitter`.

    Attributes
    ----------
    limits : Limits
        For every fit.
    process : int
        Number of the process that fits; what it has compiled stays compiled as long as this stays the same.
    """

    limits: Limits

    @property
    def process(self) -> int:
        """Number of the process that fits."""

    def fit(self, ranking: Mapping[str, Any], X: Any, y: Any, seed: int, warming: bool = False) -> Fitted:
        """Fit a ranker on one training fold; parameters as for :meth:`Here.fit`."""


class Here:
    """Fits in this very process, without limits.

    Parameters
    ----------
    memory : str, optional
        Folder where rankers that need the same embedding keep it for each other.
    """

    limits = Limits()

    def __init__(self, memory: str | None = None):
        self._memory = memory

    @property
    def process(self) -> int:
        """Number of this process."""
        return os.getpid()

    def fit(
        self,
        ranking: Mapping[str, Any],
        X: Any,
        y: Any,
        seed: int,
        warming: bool = False,
        begun: Callable[[], None] = lambda: None,
    ) -> Fitted:
        """Fit a ranker on one training fold.

        Parameters
        ----------
        ranking, X, y, seed
            As for :func:`experiments.rankers.rank`.
        warming : bool, default=False
            Whether it is done to compile: then nothing is cached, whose time would have compilation in it.
        begun : callable, optional
            Called when the ranker is made and its own ``fit`` begins.

        Returns
        -------
        Fitted

        Raises
        ------
        Exception
            As :func:`experiments.rankers.rank`.
        """
        peak, noise, compilation = PeakMemory(), Noise(), Compilation()

        @contextmanager
        def around() -> Iterator[None]:
            begun()
            with peak, compilation:
                yield

        with one_thread(), noise.caught():
            result = rank(ranking, X, y, seed, around_fit=around, memory=None if warming else self._memory)
        saved = result.info.get("cached_seconds", 0.0)
        if saved < 0.0:  # something was written down
            Memory(self._memory, verbose=0).reduce_size(bytes_limit=_MEMORY_BYTES)
        return Fitted(result, None if saved > 0.0 else peak.mib, noise.counts, compilation.happened)
