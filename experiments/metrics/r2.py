"""R² of one prediction of a numeric target."""

from __future__ import annotations

import numpy as np

#: Beyond these powers of ten, squares of a target's values leave the range of floats.
_LARGEST, _SMALLEST = 1e100, 1e-100


def r2(true: np.ndarray, predicted: np.ndarray) -> float:
    """Return the share of the target's variance that a prediction explains.

    The same number as scikit-learn's ``r2_score``, without its checks, which cost more than a small learner's fit.

    At most 1, 0 for the mean, negative for worse. ValueError where it is not defined: all true values are equal,
    or a prediction is not finite.
    """
    if true.min() == true.max():
        raise ValueError(f"R² is not defined: all {len(true)} test samples have the target {true[0]:g}")
    if not np.isfinite(predicted).all():
        raise ValueError("the learner predicted a number that is not finite")
    residual, deviation = true - predicted, true - true.mean()
    return float(1.0 - (residual @ residual) / (deviation @ deviation))


def in_range(y: np.ndarray) -> np.ndarray:
    """Bring a target to a scale on which its squares are floats; neither R² nor a ranking depends on the scale.

    ``y`` as it is where its largest absolute value is in 1e-100 … 1e100, else divided by a power of two.
    """
    largest = np.abs(y).max()
    if largest == 0 or _SMALLEST < largest < _LARGEST:
        return y
    return np.ldexp(y, -int(np.frexp(largest)[1]))
