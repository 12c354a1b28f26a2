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
    """How far the fit of one fold may go."""

    seconds: float | None = None  # wall clock; None = any
    # Resident memory of the process that fits, data and libraries included, and of the processes it starts;
    # None = any.
    memory_mib: float | None = None

    def __bool__(self):
        return self.seconds is not None or self.memory_mib is not None


@dataclass
class Fitted:
    """A fit that ended well."""

    result: RankResult  # the weights, and what the ranker says of itself
    # Resident high-water mark of its process; None also where a part of the fit came from a cache.
    peak_memory_mib: float | None
    warnings: Counter = field(default_factory=Counter)  # (kind, first line) → how often
    compiled: bool = False  # whether functions were compiled, or compiled ones loaded, during the fit


class FitEnded(Exception):
    """A fit in another process that gave no weights.

    ``status`` is "failed", "timeout" or "out_of_memory". Where ``made`` is false, the ranker could not be made in
    time, and the other folds of its cell are not tried.
    """

    def __init__(self, error: str, status: str = "failed", made: bool = True):
        super().__init__(error)
        self.error = error
        self.status = status
        self.made = made


def described(error: BaseException) -> dict[str, str]:
    """Return status and error for the row of a fold that raised; refused memory is "out_of_memory"."""
    if isinstance(error, FitEnded):
        return {"status": error.status, "error": error.error[:_ERROR_LENGTH]}
    status = "out_of_memory" if isinstance(error, MemoryError) else "failed"
    return {"status": status, "error": f"{type(error).__name__}: {error}"[:_ERROR_LENGTH]}


class Fitter(Protocol):
    """Where rankers are fitted: :class:`Here`, or :class:`experiments.rankers.isolation.SubprocessFitter`."""

    limits: Limits  # for every fit

    @property
    def process(self) -> int:
        """Number of the process that fits."""

    def fit(self, ranking: Mapping[str, Any], X: Any, y: Any, seed: int, warming: bool = False) -> Fitted:
        """Fit a ranker on one training fold; parameters as for :meth:`Here.fit`."""


class Here:
    """Fits in this very process, without limits.

    ``memory`` is a folder where rankers that need the same embedding keep it for each other.
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

        A fit that is ``warming`` is done to compile: nothing is cached. ``begun`` is called when the ranker's own
        ``fit`` begins.
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
