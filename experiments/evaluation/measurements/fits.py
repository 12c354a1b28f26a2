"""What a ranker's fit on all samples says of itself."""

from __future__ import annotations

from typing import Any

import numpy as np
from scipy import sparse

from experiments.errors import RankerError
from experiments.evaluation.measurements import Subject


def adaptive_k(subject: Subject) -> dict[str, Any]:
    """Count the numbers of neighbours that an adaptive ranker takes.

    Parameters
    ----------
    subject : Subject
        With an adaptive ranker; its ``n_iterations`` says from how many samples.

    Returns
    -------
    dict
        ``class_sizes`` (samples of each class; for labels and numbers the number of samples), ``neighbors`` and
        ``counts``: for each class the numbers of neighbours that were taken, ascending, and how often. A row
        without another one of its class takes 0 of it.

    Raises
    ------
    RankerError
        If the ranker does not say how many neighbours it took.

    Notes
    -----
    Source: the paper's appendix "Adaptive k distributions" (100 iterations).
    """
    used = subject.fit().info.get("neighbors_used")
    if used is None:
        raise RankerError(
            "the ranker does not say how many neighbours it took; take an adaptive one, such as reliefe_adaptive"
        )
    among_all = sparse.issparse(subject.y) or subject.y.dtype.kind == "f"  # labels, numbers
    sizes = [subject.X.shape[0]] if among_all else np.bincount(subject.y).tolist()
    return {
        "class_sizes": sizes,
        "neighbors": [list(counts) for counts in used],
        "counts": [list(counts.values()) for counts in used],
    }


def phases(subject: Subject) -> dict[str, Any]:
    """Fit the ranker; the seconds of its phases are in the row's own column ``phase_seconds``.

    Parameters
    ----------
    subject : Subject
        With a ranker that states ``timings_``.

    Returns
    -------
    dict
        ``phases``: their names, sorted.

    Raises
    ------
    RankerError
        If the ranker does not say what its time went into.

    Notes
    -----
    Source: the paper's appendix "Detailed analysis of running time".
    """
    seconds = subject.fit().info.get("phase_seconds")
    if not seconds:
        raise RankerError(
            "the ranker does not say what its time went into (timings_); take reliefe… or relieff…"
        )
    return {"phases": sorted(seconds)}
