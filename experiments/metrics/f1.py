"""Micro- and macro-averaged F1 of one prediction."""

from __future__ import annotations

from typing import Any

import numpy as np
from scipy import sparse


def f1_micro_macro(true: np.ndarray, predicted: np.ndarray, n_classes: int) -> tuple[float, float]:
    """Return micro and macro F1 of a multi-class prediction.

    The same numbers as scikit-learn's ``f1_score`` with ``average="micro"`` and ``"macro"`` and
    ``zero_division=0``, from three counts. Its checks of every input cost more than a small learner's fit, and
    a cell needs both averages at every point of the grid.

    ``true`` and ``predicted`` are codes 0 … ``n_classes`` − 1; classes in neither do not count.
    """
    hits = np.bincount(true[true == predicted], minlength=n_classes)
    sizes = np.bincount(true, minlength=n_classes) + np.bincount(predicted, minlength=n_classes)
    present = sizes > 0
    per_class = 2 * hits[present] / sizes[present]
    return float(2 * hits.sum() / sizes.sum()), float(per_class.mean())


def f1_micro_macro_labels(true: sparse.csr_matrix, predicted: Any) -> tuple[float, float]:
    """Return micro and macro F1 of a multi-label prediction.

    The same numbers as scikit-learn's ``f1_score`` with ``average="micro"`` and ``"macro"`` and
    ``zero_division=0``: every label counts in the macro average, one that no sample has and none was given with 0,
    so that the average is over the same labels in every fold.

    ``true`` is a canonical csr_matrix (n, L); a stored value is a label. Both are 0 when no sample has a label
    and none was predicted.
    """
    n_labels = true.shape[1]
    if predicted.shape != true.shape:
        raise ValueError(f"a prediction of shape {predicted.shape} for labels of shape {true.shape}")
    if sparse.issparse(predicted):
        predicted = predicted.tocsr().astype(bool)
        predicted.eliminate_zeros()
        given = np.bincount(predicted.indices, minlength=n_labels)
        hits = np.bincount(true.astype(bool).multiply(predicted).tocsr().indices, minlength=n_labels)
    else:
        predicted = np.asarray(predicted) != 0
        given = np.count_nonzero(predicted, axis=0)
        rows = np.repeat(np.arange(true.shape[0]), np.diff(true.indptr))
        hits = np.bincount(true.indices[predicted[rows, true.indices]], minlength=n_labels)
    sizes = np.bincount(true.indices, minlength=n_labels) + given
    total = sizes.sum()
    per_label = 2 * hits / np.maximum(sizes, 1)
    return float(2 * hits.sum() / total) if total else 0.0, float(per_label.mean())
