"""Every check of what a user hands in, made once; the code behind it trusts its arrays."""

from __future__ import annotations

from numbers import Integral, Real

import numpy as np
from scipy import sparse
from sklearn.utils.multiclass import check_classification_targets, type_of_target
from sklearn.utils.validation import check_consistent_length, column_or_1d, validate_data

from reliefe.distances import METRICS


def check_parameters(estimator):
    """Check the parameters of a ReliefF or ReliefE object.

    Raises
    ------
    TypeError, ValueError
        Naming the parameter, its value and what is allowed.
    """
    parameters = estimator.get_params(deep=False)
    k = parameters["n_neighbors"]
    if isinstance(k, str):
        if k != "adaptive":
            raise ValueError(f'n_neighbors must be a positive integer or "adaptive", got {k!r}.')
    else:
        _positive_integer("n_neighbors", k, ' or "adaptive"')
    if not isinstance(parameters["abs_mean"], (bool, np.bool_)):
        raise TypeError(f"abs_mean must be True or False, got {parameters['abs_mean']!r}.")
    if parameters["n_iterations"] is not None:
        _positive_integer("n_iterations", parameters["n_iterations"], " or None")
    _check_selection(parameters["n_features_to_select"])
    n_jobs = parameters["n_jobs"]
    if n_jobs is not None and (not _is_integer(n_jobs) or n_jobs == 0):
        raise ValueError(f"n_jobs must be None or an integer other than 0, got {n_jobs!r}.")
    _check_random_state(parameters["random_state"])
    if "metric" not in parameters:
        return
    if not isinstance(parameters["metric"], str) or parameters["metric"] not in METRICS:
        raise ValueError(f"metric must be one of {sorted(METRICS)}, got {parameters['metric']!r}.")
    embedding = parameters["embedding"]
    if isinstance(embedding, str):
        if embedding != "umap":
            raise ValueError(
                f'embedding must be "umap" or an object with fit and transform, got {embedding!r}.'
            )
    elif isinstance(embedding, type) or not (hasattr(embedding, "fit") and hasattr(embedding, "transform")):
        raise TypeError(f'embedding must be "umap" or an object with fit and transform, got {embedding!r}.')
    d = parameters["n_components"]
    if isinstance(d, str):
        if d != "twonn":
            raise ValueError(f'n_components must be a positive integer or "twonn", got {d!r}.')
    else:
        _positive_integer("n_components", d, ' or "twonn"')
    _positive_integer("n_representatives", parameters["n_representatives"])
    share = parameters["sparsify_above"]
    if not isinstance(share, Real) or isinstance(share, bool):
        raise TypeError(f"sparsify_above must be a number from 0 to 1, got {share!r}.")
    if not 0.0 <= share <= 1.0:
        raise ValueError(f"sparsify_above must be a number from 0 to 1, got {share!r}.")


def _is_integer(value):
    return isinstance(value, Integral) and not isinstance(value, (bool, np.bool_))


def _positive_integer(name, value, otherwise=""):
    if not _is_integer(value):
        raise TypeError(f"{name} must be a positive integer{otherwise}, got {value!r}.")
    if value < 1:
        raise ValueError(f"{name} must be a positive integer{otherwise}, got {value!r}.")


def _check_selection(value):
    """Check n_features_to_select as far as this goes without knowing the number of columns."""
    if value is None:
        return
    if _is_integer(value):
        if value >= 1:
            return
    elif isinstance(value, Real) and not isinstance(value, (bool, np.bool_)):
        if 0.0 < value <= 1.0:
            return
    else:
        raise TypeError(
            f"n_features_to_select must be None, a positive integer or a share in (0, 1], got {value!r}."
        )
    raise ValueError(
        f"n_features_to_select must be None, a positive integer or a share in (0, 1], got {value!r}."
    )


def _check_random_state(value):
    if value is None or isinstance(value, np.random.RandomState):
        return
    if not _is_integer(value):
        raise TypeError(f"random_state must be None, an integer or a numpy RandomState, got {value!r}.")
    if not 0 <= value < 2**32:
        raise ValueError(f"random_state must lie in 0 … 2**32 − 1, got {value!r}.")


def check_X_y(estimator, X, y):
    """Check the training data and bring it to one of two forms.

    Parameters
    ----------
    estimator : estimator
        Receives ``n_features_in_`` and ``feature_names_in_``.
    X : array-like, data frame or sparse matrix of shape (n, p)
        Any numeric type. Not modified.
    y : array-like of shape (n,)
        Class of each row: numbers, text or booleans, at least two different.

    Returns
    -------
    X : float64 ndarray of shape (n, p), or csr_matrix in canonical form without stored zeros
    codes : int64 ndarray of shape (n,)
        Classes as 0 … c − 1, in sorted order of the labels.
    classes : ndarray of shape (c,)
        The labels.

    Raises
    ------
    TypeError, ValueError
        Naming what is wrong and where.
    """
    if y is None:
        raise ValueError(
            f"{type(estimator).__name__} requires y to be passed, but the target y is None; "
            "it ranks features by how well they tell classes apart."
        )
    _refuse_text_columns(X)
    X = validate_data(
        estimator, X, accept_sparse="csr", dtype=np.float64, ensure_all_finite=False, ensure_min_samples=2
    )
    _refuse_non_finite(X, getattr(estimator, "feature_names_in_", None))
    y = _check_labels(y)
    check_consistent_length(X, y)
    classes, codes = np.unique(y, return_inverse=True)
    if classes.shape[0] < 2:
        raise ValueError(
            f"y holds one class only ({classes[0]!r}); ranking needs rows of at least 2 classes."
        )
    if sparse.issparse(X):
        X = _canonical(X)
    return X, codes.astype(np.int64), classes


def _refuse_text_columns(X):
    """Name the columns that hold text, before a conversion fails without saying where."""
    if hasattr(X, "columns") and hasattr(X, "dtypes"):
        frame = X
        for position, name in enumerate(frame.columns):
            column = frame[name] if list(frame.columns).count(name) == 1 else frame.iloc[:, position]
            _refuse_text(np.asarray(column), f"column {name!r}")
    elif not sparse.issparse(X):
        array = np.asarray(X) if not hasattr(X, "__array_namespace__") or isinstance(X, np.ndarray) else None
        if array is not None and array.ndim == 2 and array.dtype.kind in "OUS":
            for position in range(array.shape[1]):
                _refuse_text(array[:, position], f"column {position}")


def _refuse_text(column, where):
    if column.dtype.kind not in "OUST":
        return
    for row, value in enumerate(column):
        if isinstance(value, (str, bytes)):
            try:
                float(value)
            except ValueError:
                pass
            else:
                if column.dtype.kind == "O":
                    continue
            raise ValueError(
                f"X: {where} holds text ({value!r} in row {row}); encode it as numbers first, for example with "
                "sklearn.preprocessing.OneHotEncoder."
            )


def _refuse_non_finite(X, names):
    """Name row and column of the first value that is NaN or infinite."""
    values = X.data if sparse.issparse(X) else X
    if np.isfinite(values.sum()) or np.isfinite(values).all():
        return
    if sparse.issparse(X):
        entry = int(np.flatnonzero(~np.isfinite(values))[0])
        row = int(np.searchsorted(X.indptr, entry, side="right")) - 1
        column = int(X.indices[entry])
        value = values[entry]
    else:
        row, column = (int(i) for i in np.argwhere(~np.isfinite(values))[0])
        value = values[row, column]
    kind = "NaN" if np.isnan(value) else "infinity"
    label = f"column {column}" if names is None else f"column {column} ({str(names[column])!r})"
    raise ValueError(
        f"Input X contains {kind}: row {row}, {label}. Remove or impute such values first; "
        "Relief distances are not defined for them."
    )


def _check_labels(y):
    """Check a multi-class target and return it as a 1-D array."""
    if sparse.issparse(y):
        raise ValueError(
            f"y is a sparse matrix of shape {y.shape}; a 1-D array of classes is needed "
            "(multi-label targets are not supported yet)."
        )
    y = np.asarray(y)
    if y.ndim == 2 and y.shape[1] > 1:
        raise ValueError(
            f"y has shape {y.shape}; a 1-D array of classes is needed (multi-label targets are not supported yet)."
        )
    y = column_or_1d(y, warn=True)
    if y.dtype.kind == "f" and not np.isfinite(y).all():
        row = int(np.flatnonzero(~np.isfinite(y))[0])
        raise ValueError(f"Input y contains {'NaN' if np.isnan(y[row]) else 'infinity'}: row {row}.")
    if y.dtype.kind == "O":
        for row, label in enumerate(y):
            if label is None or (isinstance(label, float) and not np.isfinite(label)) or label != label:
                raise ValueError(f"Input y contains NaN or a missing label: row {row} holds {label!r}.")
        if len({isinstance(label, str) for label in y}) > 1:
            raise TypeError("y mixes text and numbers; use one kind of label.")
    if y.dtype.kind in "cV":
        raise ValueError(f"y has the type {y.dtype}, which cannot name classes.")
    check_classification_targets(y)
    if type_of_target(y) not in ("binary", "multiclass"):
        raise ValueError(f"y is a {type_of_target(y)} target; a 1-D array of classes is needed.")
    return y


def _canonical(X):
    """Return a csr_matrix of its own: sorted, duplicates summed, no stored zeros."""
    X = sparse.csr_matrix(X, copy=True)
    X.sum_duplicates()
    X.eliminate_zeros()
    index_type = np.int32 if max(X.shape) <= np.iinfo(np.int32).max else np.int64
    X.indices = X.indices.astype(index_type, copy=False)
    X.indptr = X.indptr.astype(np.int64, copy=False)
    return X
