"""From a data set's YAML block to checked arrays, or to a random subset of their samples."""

from __future__ import annotations

import hashlib
import os
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np
from scipy import sparse

from experiments.config.validation import typed_source
from experiments.datasets.assignment import FOLDS, GROUPS, Assignment, folds_of_text
from experiments.datasets.download import read_file
from experiments.datasets.encoding import coded, nominal_groups, rows_kept
from experiments.datasets.names import find_columns, listed, suggestion
from experiments.datasets.numbers import check_one_target, in_words_of_numbers
from experiments.datasets.raw import Matrix, RawData
from experiments.errors import ConfigError, DatasetError, MissingFileError, wrong_name
from experiments.locate import RESERVED, locate, parameter_names
from experiments.paths import Places, default_cache, search_places, source_blocks
from experiments.tasks import REGRESSION, TASKS

#: Shares of non-zeros are stated to six decimals, as in the paper's tables: half a unit of the last one, and a
#: little for the rounding of the division.
SHARE_TOLERANCE = 0.5e-6 + 1e-12

_AT_ONCE = 2**20  # values of a dense matrix that a checksum looks at

#: "auto": one class per sample, or labels, as the source has it. A numeric target is never guessed.
STATED = (*TASKS, "auto")


@dataclass(frozen=True)
class Dataset:
    """A data set as rankers and learners see it.

    Attributes
    ----------
    name : str
        For people.
    task : str
        ``"multiclass"``, ``"multilabel"`` or ``"regression"``.
    X : ndarray of float64, C order, or csr_matrix of float64; shape (n, p)
        Finite numbers, and NaN where missing values are left to rankers; of int8 where the source holds nothing
        else, such as genotypes. CSR is canonical: sorted indices, nothing stored twice, no stored zeros.
    y : ndarray of int64, shape (n,), csr_matrix of int8, shape (n, L), or ndarray of float64, shape (n,)
        One class per sample: codes 0 … c − 1, in the sorted order of the original classes. Multi-label: 1 where the
        row has the label; nothing else is stored. Regression: finite numbers, not all the same.
    class_names : tuple of str, length c or L
        What code or label column i stands for; empty for regression.
    feature_names : tuple of str, length p
        In column order.
    checksum : str
        SHA-256, hexadecimal, of task, X and y: the same for dense and CSR, whatever the folder or file format.
    origin : str
        Where the files were: "local", "cached" (downloaded before), "downloaded" or, without a file, "bundled".
    informative : tuple of int
        Columns that decide the target, where it is known that no others do; empty where it is not known.
    assignment : Assignment or None
        Groups of samples, or their folds, where the data set states them.
    nominal : tuple of tuple of int
        Where missing values are left in X (``dataset.missing=ranker``): columns that a nominal one has become.
    """

    name: str
    task: str
    X: Matrix
    y: Matrix
    class_names: tuple[str, ...]
    feature_names: tuple[str, ...]
    checksum: str
    origin: str = "bundled"
    informative: tuple[int, ...] = ()
    assignment: Assignment | None = None
    nominal: tuple[tuple[int, ...], ...] = ()

    @property
    def gaps(self) -> tuple[tuple[int, ...], ...] | None:
        """``nominal`` where a value of X is missing, else None: then nothing is to be filled in."""
        values = self.X.data if sparse.issparse(self.X) else self.X
        return self.nominal if values.dtype.kind == "f" and bool(np.isnan(values).any()) else None


def load(
    dataset: Mapping[str, Any],
    local_data: str | os.PathLike[str],
    *,
    cache: str | os.PathLike[str] | None = None,
    download: bool = True,
) -> Dataset:
    """Load a data set, and check it against what its YAML file states.

    Local folders are looked at first, then the cache; a file is downloaded only when no source of the data set has
    all its files in either.

    Parameters
    ----------
    dataset : mapping
        A block of ``conf/dataset``.
    local_data : path
        Folder with local files; relative ones are looked for as :func:`experiments.paths.search_places` says.
        Nothing in it is ever written or deleted.
    cache : path, optional
        Folder for downloads and parsed copies; the default one if not given.
    download : bool
        Whether files may be downloaded.

    Returns
    -------
    Dataset

    Raises
    ------
    DatasetError
        File missing, cut off, changed or unreadable; values that are not finite; or rows, features, classes or
        share of non-zeros other than stated. Names the data set, and each quantity that differs.
    ConfigError
        When the source or one of its parameters does not exist.
    """
    name, task = dataset["name"], dataset["task"]
    if task not in STATED:
        raise wrong_name("task (dataset.task)", str(task), STATED)
    if dataset.get("groups") is not None and dataset.get("folds") is not None:
        raise ConfigError(f"data set {name}: state either dataset.groups or dataset.folds, not both")
    try:
        if task == REGRESSION:
            for source in source_blocks(dataset):
                check_one_target(listed(typed_source(source).get("target")))
        raw, origin = _first_source(dataset, search_places(local_data), cache, download)
        missing = dataset.get("missing") or "error"
        if task == "auto":
            task = "multilabel" if len(raw.labels.shape) == 2 else "multiclass"
        X, y, feature_names, class_names = coded(
            raw,
            task,
            drop_constant=bool(dataset.get("drop_constant", False)),
            missing=missing,
        )
        assignment = _assignment(dataset, raw, missing, search_places(local_data))
    except MissingFileError as error:
        address = f"; it comes from {dataset['url']}" if dataset.get("url") else ""
        raise MissingFileError(f"data set {name}: {error}{address}") from error
    except DatasetError as error:
        said = in_words_of_numbers(str(error)) if task == REGRESSION else str(error)
        raise DatasetError(f"data set {name}: {said}") from error
    try:
        _compare(name, dataset.get("expected") or {}, X, len(class_names))
    except DatasetError as error:
        if origin not in ("cached", "downloaded"):
            raise
        folder = Path(cache or default_cache()).expanduser() / "downloads"
        raise DatasetError(
            f"{error}\nif the download was at fault: delete its files and their records (.json) in {folder}"
        ) from error
    named = raw.informative if dataset.get("informative") is None else dataset["informative"]
    informative = _places(name, named or (), feature_names)
    checksum = checksum_of(task, X, y)
    nominal = nominal_groups(raw, feature_names) if missing == "ranker" else ()
    return Dataset(
        name, task, X, y, class_names, feature_names, checksum, origin, informative, assignment, nominal
    )


def _assignment(
    dataset: Mapping[str, Any], raw: RawData, missing: str, local: Sequence[Path]
) -> Assignment | None:
    file = dataset.get("folds")
    if raw.groups is None and file is None:
        return None
    if raw.groups is None:
        n_rows = raw.X.shape[0]
        values = folds_of_text(read_file(str(file), [Path.cwd(), *local]).text, str(file), n_rows)
    else:
        values = raw.groups
    kind = FOLDS if raw.groups is None else GROUPS
    return Assignment.of(kind, values[rows_kept(raw.X, missing)])


def _places(name: str, informative: Sequence[str], feature_names: Sequence[str]) -> tuple[int, ...]:
    places = []
    for feature in informative:
        found = find_columns(str(feature), feature_names)
        if len(found) != 1:
            raise DatasetError(
                f"data set {name}: the informative feature {feature!r} is not among its features"
                f"{suggestion(str(feature), feature_names)}"
            )
        places.append(found[0])
    return tuple(sorted(places))


def _first_source(
    dataset: Mapping[str, Any],
    local: Sequence[Path],
    cache: str | os.PathLike[str] | None,
    download: bool,
) -> tuple[RawData, str]:
    """Read the first source whose files are there; only when none is, the first that can be downloaded."""
    sources = source_blocks(dataset)
    if not sources:
        raise ConfigError(f"data set {dataset['name']} has no source")
    passed_over: list[str] = []
    for may_download in (False, True) if download else (False,):
        passed_over = []
        for source in sources:
            places = Places(tuple(local), None if cache is None else Path(cache).expanduser(), may_download)
            try:
                return _read(source, places, dataset.get("groups")), _origin(places)
            except MissingFileError as error:
                passed_over.append(str(error))
    if len(passed_over) == 1:
        raise MissingFileError(passed_over[0])
    reasons = dict.fromkeys(each.splitlines()[0] for each in passed_over)
    advice = passed_over[0].splitlines()[-1]
    raise MissingFileError(f"no source has its file: {'; '.join(reasons)}\n{advice}")


def _origin(places: Places) -> str:
    for origin in ("downloaded", "cached", "local"):
        if origin in places.used:
            return origin
    return "bundled"


def nonzero_share(X: Matrix) -> float:
    """Share of cells that are not zero."""
    count = X.count_nonzero() if sparse.issparse(X) else np.count_nonzero(X)
    return count / (X.shape[0] * X.shape[1])


def _read(source: Mapping[str, Any], places: Places, groups: str | None = None) -> RawData:
    target = source.get("_target_")
    if target is None:
        raise ConfigError("dataset.source has no _target_ (the function that reads it)")
    reader = locate(target)
    names, any_name = parameter_names(reader)
    settings = {key: value for key, value in typed_source(source).items() if key not in RESERVED}
    for key in settings:
        if not any_name and key not in names:
            raise wrong_name(f"parameter of {target}", key, [each for each in names if each != "places"])
    if "places" in names:
        settings["places"] = places
    if groups is not None:
        if not {"target", "leave_out"} <= set(names) or "features" in names:
            raise ConfigError(
                f"dataset.groups={groups} is the name of a column; {target} reads none by that "
                "(dataset=csv, parquet and arff do)"
            )
        if groups in map(str, listed(settings.get("target") or ())):
            raise ConfigError(f"dataset.groups={groups} is the target too; name another column")
        left_out = listed(settings.get("leave_out") or ())
        settings["leave_out"] = [*left_out, groups]
    try:
        raw = reader(**settings)
        if groups is not None:  # read as the classes are, by their text
            settings |= {"target": groups, "leave_out": [*left_out, *listed(settings["target"])]}
            try:
                raw = replace(raw, groups=np.asarray(reader(**settings).labels))
            except DatasetError as error:
                said = str(error).replace("no class", "no group")
                raise DatasetError(f"dataset.groups={groups}: {said}") from error
    except DatasetError as error:
        if groups is not None and repr(groups) in str(error):
            raise DatasetError(str(error).replace("(dataset.leave_out)", "(dataset.groups)")) from error
        raise
    except TypeError as error:
        raise ConfigError(f"{target} cannot read this source: {error}") from error
    if not isinstance(raw, RawData):
        raise ConfigError(f"{target} gave a {type(raw).__name__}, not RawData")
    return raw


def _compare(name: str, expected: Mapping[str, Any], X: Matrix, n_classes: int) -> None:
    found = {
        "rows": X.shape[0],
        "features": X.shape[1],
        "classes": n_classes,
        "nonzero_share": nonzero_share(X),
    }
    differing = []
    for quantity, value in found.items():
        stated = expected.get(quantity)
        tolerance = SHARE_TOLERANCE if quantity == "nonzero_share" else 0
        if stated is not None and abs(value - stated) > tolerance:
            shown = f"{value:.6f}" if quantity == "nonzero_share" else value
            differing.append(f"{quantity} expected {stated}, found {shown}")
    if differing:
        raise DatasetError(f"data set {name} is not what its YAML file states: " + "; ".join(differing))


def checksum_of(task: str, X: Matrix, y: Matrix) -> str:
    """Checksum of what rankers and learners see."""
    # CSR is the common form: the same matrix has the same checksum however it was stored. Fixed byte order and
    # integer width keep it the same on every machine.
    digest = hashlib.sha256(f"{task} {X.shape[0]} {X.shape[1]}\n".encode())
    if sparse.issparse(y):
        digest.update(f"{y.shape[1]} labels\n".encode())
    if sparse.issparse(X):
        canonical = sparse.csr_matrix(X)
        _add(digest, canonical.indptr, canonical.indices)
        _add(digest, canonical.data, kind="<f8")
    else:
        _add_dense(digest, X)
    if TASKS[task].numeric:
        _add(digest, y, kind="<f8")
    else:
        _add(digest, *([y.indptr, y.indices] if sparse.issparse(y) else [y]))
    return digest.hexdigest()


def _add(digest: Any, *arrays: np.ndarray, kind: str = "<i8") -> None:
    for array in arrays:
        digest.update(np.ascontiguousarray(array, dtype=kind).tobytes())


def _add_dense(digest: Any, X: np.ndarray) -> None:
    """Add a dense matrix as CSR holds it, a few rows at a time: that of int8 would take 20 times its memory."""
    step = max(1, _AT_ONCE // X.shape[1])
    blocks = [slice(start, start + step) for start in range(0, X.shape[0], step)]
    per_row = np.concatenate([np.count_nonzero(X[block], axis=1) for block in blocks])
    digest.update(np.concatenate([[0], np.cumsum(per_row)]).astype("<i8").tobytes())
    for block in blocks:
        digest.update(np.nonzero(X[block])[1].astype("<i8").tobytes())
    for block in blocks:
        part = X[block]
        digest.update(part[part != 0].astype("<f8").tobytes())


def subsample(data: Dataset, max_rows: int | None, seed: int) -> Dataset:
    """Draw samples without replacement, where a data set has more than may be used."""
    n = data.X.shape[0]
    if max_rows is None or n <= max_rows:
        return data
    from sklearn.utils import resample  # takes a while to import, and few protocols draw

    by_class = None if sparse.issparse(data.y) or data.task == REGRESSION else data.y
    rows = np.sort(
        resample(np.arange(n), replace=False, n_samples=max_rows, random_state=seed, stratify=by_class)
    )
    X, y, class_names = data.X[rows], data.y[rows], data.class_names
    if by_class is not None:
        present, y = np.unique(y, return_inverse=True)
        y, class_names = y.astype(np.int64), tuple(class_names[code] for code in present)
    checksum = checksum_of(data.task, X, y)
    assignment = None if data.assignment is None else data.assignment.of_rows(rows)
    return replace(data, X=X, y=y, class_names=class_names, checksum=checksum, assignment=assignment)
