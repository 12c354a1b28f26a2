"""Every check of the data a user hands in, made once; the code behind it trusts its arrays."""

from __future__ import annotations

import numpy as np
from scipy import sparse
from sklearn.utils.multiclass import check_classification_targets, type_of_target
from sklearn.utils.validation import check_array, column_or_1d, validate_data

from reliefe.chosen import Chosen
from reliefe.column_error import ColumnError
from reliefe.inputs import KEPT_TYPES, is_frame, is_missing, masked_places, plain_sparse, plain_table


def check_X(estimator, X, y, missing="raise", n_jobs=None, categories=None):
    """Check the training samples and bring them to one of two forms.

    Parameters
    ----------
    estimator : estimator
        Receives ``n_features_in_`` and ``feature_names_in_``.
    X : array-like, masked array, data frame or sparse matrix of shape (n, p)
        Any numeric type. NaN, NaT, None, ``pandas.NA`` and masked values are missing ones. Not modified. Features
        that a wrapper has checked and chosen (:class:`reliefe.chosen.Chosen`) are taken as they are.
    y : object
        The target, only to say early that there is none.
    missing : {"raise", "ignore"}
        Whether missing values are an error.
    n_jobs : int or None
        Number of threads.
    categories : bool ndarray of shape (p,), optional
        From :func:`reliefe.inputs.categorical_columns`: columns of a data frame that become numbers of categories.

    Returns
    -------
    X : ndarray of shape (n, p), or csr_matrix of float64 in canonical form without stored zeros
        Dense data are those of the caller if they are an array of real numbers, of whatever type and order.
    profile : reliefe.columns.Profile or None
        What dense data hold.

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
    if isinstance(X, Chosen):
        estimator.n_features_in_ = X.shape[1]
        return X, X.profile
    given, X = X, plain_table(X, categories)
    dtype = np.float64 if sparse.issparse(X) else KEPT_TYPES
    kinds = {"accept_sparse": "csr", "dtype": dtype, "ensure_all_finite": False, "ensure_min_samples": 2}
    if is_frame(given):
        validate_data(estimator, given, skip_check_array=True)  # names and number of the features
        X = check_array(X, estimator=estimator, input_name="X", **kinds)
    else:
        X = validate_data(estimator, X, **kinds)
    names, allow_nan = getattr(estimator, "feature_names_in_", None), missing == "ignore"
    if sparse.issparse(X):
        _refuse_non_finite(X, names, allow_nan)
        return _canonical(X), None
    profile = _profile(X, n_jobs)
    if X.dtype.itemsize == 8 and X.dtype.kind in "iu" and _beyond_floats(profile):
        X = X.astype(np.float64)  # differences are those of floats, whatever the type
        profile = _profile(X, n_jobs)
    if profile.infinite or not (allow_nan or profile.known.all()):
        _refuse_non_finite(X, names, allow_nan)
    return X, profile


def _beyond_floats(profile):
    """Say whether whole numbers are so large that several become one float64."""
    return max(np.abs(profile.low).max(), np.abs(profile.high).max()) > 2.0**53


def _profile(X, n_jobs):
    from reliefe._threads import Team
    from reliefe.columns import Profile

    with Team(n_jobs) as team:
        return Profile.of(X, team)


def check_y(y, n_rows):
    """Check the target and bring it to one of two forms.

    Parameters
    ----------
    y : array-like of shape (n,), or array-like or sparse matrix of shape (n, q)
        Classes, or 0/1 labels. Not modified.
    n_rows : int
        Number of samples of X.

    Returns
    -------
    target : int64 ndarray of shape (n,) or csr_matrix of shape (n, q)
        Classes as 0 … c − 1 in sorted order, or labels in canonical form.
    classes : ndarray
        The classes, or 0 … q − 1.

    Raises
    ------
    TypeError, ValueError
        Naming what is wrong and where.
    """
    y = target_array(y)
    if y.ndim > 2:
        raise ValueError(f"y has {y.ndim} dimensions (shape {y.shape}); classes take one, label sets two.")
    if y.ndim == 2:
        target = _check_label_sets(y)
        _check_length(target.shape[0], n_rows)
        if (target != target[np.zeros(n_rows, dtype=np.int64)]).nnz == 0:
            raise ValueError(
                "y gives every sample the same labels; ranking needs at least 2 different label sets."
            )
        return target, np.arange(target.shape[1])
    y = _check_labels(y)
    _check_length(y.shape[0], n_rows)
    classes, codes = np.unique(y, return_inverse=True)
    if classes.shape[0] < 2:
        raise ValueError(
            f"y holds one class only ({_shown(classes[0])}); ranking needs samples of at least 2 classes."
        )
    return codes.astype(np.int64), classes


def check_response(y, n_rows):
    """Check a numeric target.

    Parameters
    ----------
    y : array-like of shape (n,)
        Finite numbers, not all the same. Not modified.
    n_rows : int
        Number of samples of X.

    Returns
    -------
    float64 ndarray of shape (n,)
        Range-normalised: from 0 to 1.

    Raises
    ------
    TypeError, ValueError
        Naming what is wrong and where.
    """
    if sparse.issparse(y):
        raise ValueError('y is a sparse matrix; with target="regression", pass a 1-D array of numbers.')
    y = target_array(y)
    if y.ndim == 2 and y.shape[1] > 1:
        raise ValueError(
            f'y has shape {y.shape}; with target="regression" it holds one number per sample. Several targets are '
            "ranked one at a time."
        )
    if y.dtype.kind == "c":
        raise ValueError(f'y: target="regression" takes numbers only (it holds complex ones, {y.dtype}).')
    y = column_or_1d(y, warn=True)
    if y.dtype.kind in "mM":
        y = y.astype(np.int64)
        y = y - y.min()  # before rounding: float64 holds no date to the nanosecond
    if y.dtype.kind not in "biuf":
        try:
            text = next((value for value in y.tolist() if isinstance(value, (str, bytes))), None)
            if text is not None:
                # The repr of numpy's own texts says what they are.
                text = text if isinstance(text, bytes) else str(text)
                raise ValueError(f"it holds text, such as {text!r}")
            y = y.astype(np.float64)
        except (TypeError, ValueError) as error:
            raise ValueError(f'y: target="regression" takes numbers only ({error}).') from None
    with np.errstate(over="ignore"):
        y = y.astype(np.float64)
    _check_length(y.shape[0], n_rows)
    if not np.isfinite(y).all():
        row = int(np.flatnonzero(~np.isfinite(y))[0])
        raise ValueError(f"Input y contains {'NaN' if np.isnan(y[row]) else 'infinity'}: sample {row}.")
    low, high = y.min(), y.max()
    if low == high:
        raise ValueError(f"y is {_shown(low)} in every sample; ranking needs at least 2 different values.")
    with np.errstate(over="ignore"):
        extent = high - low
    if not np.isfinite(extent):
        raise ValueError("y: its range exceeds what float64 can hold; rescale it first.")
    return (y - low) / extent


def check_sample_weight(sample_weight, n_rows):
    """Check what each sample counts.

    Parameters
    ----------
    sample_weight : array-like of shape (n,), or None
        Numbers from 0 on, not all 0. Not modified.
    n_rows : int
        Number of samples of X.

    Returns
    -------
    float64 ndarray of shape (n,), or None
        None where all samples count the same.

    Raises
    ------
    ValueError
        Naming what is wrong and where.
    """
    if sample_weight is None:
        return None
    weight = np.asarray(sample_weight)
    if weight.ndim != 1 or weight.shape[0] != n_rows:
        raise ValueError(
            f"sample_weight has the shape {weight.shape}; it needs one number for each of the {n_rows} samples "
            "of X."
        )
    try:
        weight = weight.astype(np.float64)
    except (TypeError, ValueError) as error:
        raise ValueError(f"sample_weight holds what is no number ({error}).") from None
    wrong = np.flatnonzero(~(np.isfinite(weight) & (weight >= 0.0)))
    if wrong.size:
        raise ValueError(
            f"sample_weight is {weight[wrong[0]]} for sample {wrong[0]}; it must be a number from 0 on."
        )
    largest = weight.max()
    if largest == 0.0:
        raise ValueError("sample_weight is zero for every sample: all weights are zero.")
    return None if weight.min() == largest else weight / largest


def check_classes(estimator, y, n_rows):
    """As :func:`check_y` for a ranker that takes one class per sample only."""
    target, classes = check_y(y, n_rows)
    if sparse.issparse(target):
        raise ValueError(
            f"{type(estimator).__name__} takes one class per sample, but y has {target.shape[1]} labels; "
            "ReliefF, ReliefE, SURF and MultiSURF take label sets."
        )
    return target, classes


def _shown(value):
    """Return a value as Python writes it, not as numpy does."""
    return repr(value.item() if isinstance(value, np.generic) else value)


def target_array(y):
    """Make an array of a target, and refuse values that are missing.

    Numbers among text stay numbers. Values are not looked at any further.

    Parameters
    ----------
    y : array-like, masked array, data frame or sparse matrix
        Not modified.

    Returns
    -------
    ndarray, or csr_matrix of float64 where y is sparse

    Raises
    ------
    ValueError
        For rows of different lengths, and for NaN, NaT, None, ``pandas.NA`` or a masked value, with its sample
        (and its column if y has two dimensions).
    """
    masked = masked_places(y)
    if masked is not None:
        raise ValueError(f"Input y contains NaN: {_place(masked)} is masked.")
    if sparse.issparse(y):
        if y.ndim != 2:
            raise ValueError(
                f"y is sparse and has shape {y.shape}; pass classes as a dense array (y.toarray())."
            )
        return plain_sparse(y, "y")
    y = _as_array(y)
    if y.dtype.kind == "T":
        y = y.astype(object)
    if y.dtype.kind in "mM":
        missing = np.isnat(y)
    elif y.dtype.kind == "f":
        missing = np.isnan(y)
    elif y.dtype.kind == "O":
        missing = np.fromiter((is_missing(each) for each in y.ravel()), dtype=bool, count=y.size).reshape(
            y.shape
        )
    else:
        return y
    if missing.any():
        value, held = y[tuple(np.argwhere(missing)[0])], ""
        if y.dtype.kind != "f":
            shown = str(value) if isinstance(value, (np.datetime64, np.timedelta64)) else _shown(value)
            held = f" holds {shown}, a missing value"
        raise ValueError(f"Input y contains NaN: {_place(missing)}{held}.")
    return y


def _place(found):
    """Name the first place where an array of booleans of one or more dimensions is True."""
    row, *rest = (int(place) for place in np.argwhere(found)[0])
    return f"sample {row}" + "".join(f", column {place}" for place in rest[:1])


def _as_array(y):
    """Make an array of y without letting numpy turn numbers and missing labels among text into text."""
    try:
        array = np.asarray(y)
    except ValueError as error:
        raise ValueError(
            "y cannot be made an array: classes are one value per sample, label sets are rows of 0 and 1 that all "
            f"have the same length ({error})."
        ) from None
    if array.dtype.kind in "US" and not hasattr(y, "dtype"):
        return np.asarray(y, dtype=object)
    if array.dtype.kind == "O" and array.ndim == 1:
        plain = np.asarray(array.tolist())
        if plain.dtype.kind in "biuf" and plain.shape == array.shape:
            return plain
    return array


def _check_length(n, n_rows):
    if n != n_rows:
        raise ValueError(f"X and y have different lengths: X has inconsistent {n_rows} samples, y has {n}.")


def _check_label_sets(y):
    """Check a multi-label target and return it as a canonical csr_matrix of ones."""
    if y.shape[1] == 1:
        raise ValueError(
            f"y has shape {y.shape}: a 2-D y is multi-label and needs at least 2 columns; for classes pass a 1-D y "
            "(y.ravel())."
        )
    if y.shape[1] == 0:
        raise ValueError(f"y has shape {y.shape}: no labels.")
    values = y.data if sparse.issparse(y) else y
    if values.dtype.kind == "O":
        if any(isinstance(value, (str, bytes)) for value in values.ravel()):
            raise ValueError(
                "y: a multi-label target holds 0 and 1 only, as numbers or booleans, not as text."
            )
        try:
            y = y.astype(np.float64)
        except (TypeError, ValueError) as error:
            raise ValueError(f"y: a multi-label target holds 0 and 1 only ({error}).") from None
    elif values.dtype.kind not in "biuf":
        raise ValueError(f"y: a multi-label target holds 0 and 1 only, not values of type {values.dtype}.")
    T = sparse.csr_matrix(y, dtype=np.float64, copy=True)
    T.sum_duplicates()
    wrong = np.flatnonzero((T.data != 0.0) & (T.data != 1.0))
    if wrong.size:
        row = int(np.searchsorted(T.indptr, wrong[0], side="right")) - 1
        value = T.data[wrong[0]]
        shown = "NaN" if np.isnan(value) else "infinity" if np.isinf(value) else repr(float(value))
        raise ValueError(
            f"Input y contains {shown}: sample {row}, column {int(T.indices[wrong[0]])}; a multi-label target "
            "holds 0 and 1 only."
        )
    return _canonical(T)


def _refuse_non_finite(X, names, allow_nan=False):
    """Name sample and feature of the first value that is infinite, or NaN unless that is allowed."""
    values = X.data if sparse.issparse(X) else X
    if allow_nan:
        if not np.isinf(values).any():
            return
        if sparse.issparse(X):
            X = sparse.csr_matrix(
                (np.where(np.isnan(values), 0.0, values), X.indices, X.indptr), shape=X.shape
            )
            values = X.data
        else:
            X = values = np.where(np.isnan(values), 0.0, values)
    with np.errstate(over="ignore", invalid="ignore"):  # finite values may have no finite sum
        total = values.sum()
    if np.isfinite(total) or np.isfinite(values).all():
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
    raise ColumnError(
        f"Input X contains {kind}: sample {row}, {{column}}. Remove or impute such values first; "
        "Relief distances are not defined for them."
        + (
            ' With missing="ignore", ReliefF, ReliefE and the SURF family leave them out.'
            if kind == "NaN"
            else ""
        ),
        column,
        None if names is None else names[column],
    )


def _check_labels(y):
    """Check a multi-class target and return it as a 1-D array."""
    y = column_or_1d(y, warn=True)
    if y.dtype.kind == "f" and not np.isfinite(y).all():
        raise ValueError(f"Input y contains infinity: {_place(~np.isfinite(y))}.")
    if y.dtype.kind == "O":
        for row, label in enumerate(y):
            if isinstance(label, float) and not np.isfinite(label):
                raise ValueError(f"Input y contains infinity: sample {row}.")
        if len({isinstance(label, str) for label in y}) > 1:
            raise TypeError("y mixes text and numbers; use one kind of label.")
    if y.dtype.kind in "cV":
        raise ValueError(f"y has the type {y.dtype}, which cannot name classes.")
    if type_of_target(y).startswith("continuous"):
        raise ValueError(
            "Unknown label type: continuous. y holds numbers that are no classes, such as "
            f"{_shown(next(value for value in y if value != int(value)))}; for a numeric target use "
            'ReliefF, ReliefE, SURF or MultiSURF with target="regression", or make classes of it.'
        )
    check_classification_targets(y)
    if type_of_target(y) not in ("binary", "multiclass"):
        raise ValueError(f"y is a {type_of_target(y)} target; a 1-D array of classes is needed.")
    return y


def _canonical(X):
    """Return a csr_matrix of its own: sorted, duplicates summed, no stored zeros."""
    X = sparse.csr_matrix(X, dtype=np.float64, copy=True)
    X.sum_duplicates()
    X.eliminate_zeros()
    index_type = np.int32 if max(X.shape) <= np.iinfo(np.int32).max else np.int64
    X.indices = X.indices.astype(index_type, copy=False)
    X.indptr = X.indptr.astype(np.int64, copy=False)
    return X
