"""Comparison of the weights that two implementations give."""

from __future__ import annotations

import numpy as np
from scipy.stats import spearmanr


def compare(ours, peer, *, tolerance, reason):
    """Compare two vectors of weights.

    Parameters
    ----------
    ours, peer : array-like of shape (p,)
        Weights of the same columns.
    tolerance : float or None
        Largest difference, as a share of the largest absolute weight of ours, that counts as rounding. None
        where the definitions differ, and the comparison is only reported.
    reason : str
        Why this much agreement is to be expected.

    Returns
    -------
    dict
        ``pearson``, ``spearman``, ``max_difference``, ``relative_difference`` (share of the largest absolute
        weight), ``best_factor`` (least-squares factor that brings the peer's weights to ours) and
        ``relative_difference_rescaled`` (the same share after it), ``agrees`` (None without a tolerance).
    """
    ours, peer = np.asarray(ours, dtype=np.float64), np.asarray(peer, dtype=np.float64)
    result = {
        "tolerance": tolerance,
        "reason": reason,
        "pearson": None,
        "spearman": None,
        "max_difference": None,
        "relative_difference": None,
        "best_factor": None,
        "relative_difference_rescaled": None,
        "agrees": None if tolerance is None else False,
    }
    if ours.shape != peer.shape:
        result["problem"] = f"{ours.shape[0]} weights of ours, {peer.shape[0]} of the peer's"
        return result
    finite = np.isfinite(ours) & np.isfinite(peer)
    if not finite.all():
        result["problem"] = f"{np.count_nonzero(~finite)} weights are not finite"
        return result
    largest = float(np.abs(ours).max()) or 1.0
    difference = float(np.abs(ours - peer).max())
    norm = float(peer @ peer)
    factor = float(ours @ peer) / norm if norm else 0.0
    result["max_difference"] = difference
    result["relative_difference"] = difference / largest
    result["best_factor"] = factor
    result["relative_difference_rescaled"] = float(np.abs(ours - factor * peer).max()) / largest
    if np.ptp(ours) > 0.0 and np.ptp(peer) > 0.0:
        result["pearson"] = float(np.corrcoef(ours, peer)[0, 1])
        result["spearman"] = float(spearmanr(ours, peer).statistic)
    if tolerance is not None:
        result["agrees"] = bool(difference <= tolerance * largest)
    return result
