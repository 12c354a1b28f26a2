"""scikit-learn's random forest, tree for tree, grown on what is not zero.

Predictions are equal to those of ``RandomForestClassifier(...).fit(X, y).predict(X_test)``, since every tree is:
its seed, the rows drawn for it, the features drawn at every node, the objective to the last bit, and so every
threshold and every leaf. :func:`covers` says for which parameters and data;
:func:`experiments.learners.forest.passes_self_check` whether the installed scikit-learn grows its trees this way.

Memory, in bytes, at most:

* features: 24 a value that a sparse matrix stores, or 10 a value of a dense matrix and 2 MiB; 64 a feature. A
  sparse matrix is never made dense;
* each thread, for one tree that is forgotten when it has voted: 220 a row, 12 a label of a row, 60 a feature; where
  lists follow the nodes (few features, many rows), 24 a stored value and 12 log2(n) a feature;
* rows to predict: 8 a value; 16 a row and label for votes, 8 a row and class; for each tree whose votes wait, at
  most two in a thread, 20 a row and 16 a label in a leaf.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from threading import local
from typing import Any

import numpy as np
from joblib import effective_n_jobs
from scipy import sparse
from sklearn.ensemble import RandomForestClassifier
from sklearn.utils.validation import check_random_state

from experiments.learners.forest_data import Targets, describe_columns, grouped, with_lists
from experiments.learners.kernels.growing import grow
from experiments.learners.kernels.layout import WORD, Columns, Sample, Tree, Work
from experiments.learners.kernels.voting import draw, leaf_labels, leaves_dense, leaves_sparse, vote

_INT32_MAX = np.iinfo(np.int32).max
_FLOAT32_MAX = float(np.finfo(np.float32).max)
#: Parameters that have to have these values.
_AS_THEY_ARE = {
    "criterion": "gini",
    "min_weight_fraction_leaf": 0.0,
    "max_leaf_nodes": None,
    "oob_score": False,
    "warm_start": False,
    "class_weight": None,
    "ccp_alpha": 0.0,
    "monotonic_cst": None,
    "max_samples": None,
    "verbose": 0,
}


def covers(learner: Any, X_train: Any, y_train: Any, X_test: Any) -> bool:
    """Whether a forest can be grown here.

    False for other learners, for parameters that change how trees are grown, for missing values, and for what
    scikit-learn would refuse.
    """
    if type(learner) is not RandomForestClassifier:
        return False
    parameters = learner.get_params(deep=False)
    if any(name not in parameters or parameters[name] != value for name, value in _AS_THEY_ARE.items()):
        return False
    if not isinstance(parameters["random_state"], int | np.integer) or not _valid(parameters):
        return False
    if sparse.issparse(X_train) != sparse.issparse(X_test):
        return False
    n, p = X_train.shape
    if n < 1 or p < 1 or n >= 2**26 or X_test.ndim != 2 or X_test.shape[0] < 1 or X_test.shape[1] != p:
        return False
    if not isinstance(y_train, np.ndarray) or y_train.shape[0] != n or y_train.dtype.kind not in "biu":
        return False
    if y_train.ndim == 2:
        if y_train.shape[1] < 2 or y_train.min() < 0 or y_train.max() > 1:
            return False
    elif y_train.ndim != 1:
        return False
    for X in (X_train, X_test):
        values = X.data if sparse.issparse(X) else X
        if sparse.issparse(X) and not (X.format in ("csr", "csc") and X.nnz < _INT32_MAX):
            return False
        if sparse.issparse(X) and _stores_twice(X):
            return False
        if values.dtype.kind not in "biuf":
            return False
        if values.size and not max(-float(values.min()), float(values.max())) <= _FLOAT32_MAX:
            return False
    return True


def _stores_twice(X: Any) -> bool:
    """Whether a sparse matrix stores a place more than once, which scikit-learn does not add up."""
    if X.has_canonical_format:
        return False
    by_columns = X.tocsc(copy=True)
    by_columns.sort_indices()
    return not by_columns.has_canonical_format


def _valid(parameters: dict[str, Any]) -> bool:
    def whole(name: str, least: int) -> bool:
        value = parameters[name]
        return isinstance(value, int | np.integer) and not isinstance(value, bool) and bool(value >= least)

    max_features = parameters["max_features"]
    return (
        whole("n_estimators", 1)
        and whole("random_state", 0)
        and parameters["random_state"] < 2**32
        and isinstance(parameters["bootstrap"], bool)
        and (parameters["max_depth"] is None or whole("max_depth", 1))
        and whole("min_samples_leaf", 1)
        and whole("min_samples_split", 2)
        and isinstance(parameters["min_impurity_decrease"], float | int)
        and parameters["min_impurity_decrease"] >= 0
        and (
            max_features in ("sqrt", "log2", None)
            if max_features is None or isinstance(max_features, str)
            else whole("max_features", 1) or (isinstance(max_features, float) and 0 < max_features <= 1)
        )
        and (parameters["n_jobs"] is None or isinstance(parameters["n_jobs"], int))
    )


def fit_predict(
    learner: RandomForestClassifier, X_train: Any, y_train: np.ndarray, X_test: Any
) -> np.ndarray:
    """Grow a forest and predict; the same as ``learner.fit(X_train, y_train).predict(X_test)``."""
    forest = Forest(learner, X_train, y_train)
    votes, votes_against = forest.votes(_rows_to_predict(X_test))
    # Dividing first, as the forest does: it decides what counts as a draw.
    votes /= learner.n_estimators
    targets = forest.targets
    if targets.classes is not None:
        return targets.classes.take(np.argmax(votes, axis=1))
    assert targets.always is not None and targets.never is not None  # there are labels
    votes_against /= learner.n_estimators
    # A label that all training samples have, or none, has one class only.
    predicted = (votes > votes_against) | targets.always
    return (predicted & ~targets.never).astype(y_train.dtype)


class Forest:
    """The trees of a forest, one after the other."""

    def __init__(self, learner: RandomForestClassifier, X: Any, y: np.ndarray):
        self.targets = Targets.of(y)
        self.n_rows, n_features = X.shape
        self.columns = describe_columns(X)
        self.columns, self.groups = grouped(self.columns, self.n_rows, self.targets)
        self._learner = learner
        n_drawn = _n_drawn(learner.max_features, n_features)
        self.keeps_lists = _worth_keeping(self.columns, n_drawn)
        if not self.keeps_lists:
            self.columns = with_lists(self.columns)
        depth = _INT32_MAX if learner.max_depth is None else learner.max_depth
        self._rules = np.array(
            [
                n_drawn,
                depth,
                max(learner.min_samples_split, 2 * learner.min_samples_leaf),
                learner.min_samples_leaf,
                self.n_rows,
                self.keeps_lists,
            ],
            dtype=np.int64,
        )
        seeds = check_random_state(int(learner.random_state))
        self._seeds = [seeds.randint(_INT32_MAX) for _ in range(learner.n_estimators)]
        self._room = local()

    def trees(self) -> Iterator[tuple[Tree, int]]:
        """Yield each tree and its number of nodes; a tree is overwritten by the next."""
        room = _Room(self)
        for seed in self._seeds:
            yield room.tree, self._grow(seed, room)[0]

    def votes(self, rows: tuple) -> tuple[np.ndarray, np.ndarray]:
        """Add up the votes of all trees in their order.

        Votes for labels or classes, (m, L), and against labels; the latter is (0, 0) for classes.
        """
        n_labels, single = self.targets.n_labels, self.targets.single
        n_rows = rows[0]
        votes = np.zeros((n_rows, n_labels))
        against = np.zeros((0, 0) if single else (n_rows, n_labels))
        absent = np.ones(n_labels)

        def leaves(seed: int) -> tuple:
            if not hasattr(self._room, "one"):
                self._room.one = _Room(self)
            return self._leaves(seed, rows, self._room.one)

        n_threads = min(effective_n_jobs(self._learner.n_jobs), len(self._seeds))
        if n_threads == 1:
            for seed in self._seeds:
                vote(*leaves(seed), single, absent, against, votes)
        else:
            with ThreadPoolExecutor(n_threads) as pool:
                waiting: deque[Any] = deque()
                for seed in self._seeds:
                    waiting.append(pool.submit(leaves, seed))
                    if len(waiting) > 2 * n_threads:
                        vote(*waiting.popleft().result(), single, absent, against, votes)
                while waiting:
                    vote(*waiting.popleft().result(), single, absent, against, votes)
        self._room = local()
        return votes, against

    def _grow(self, seed: int, room: _Room) -> tuple[int, int]:
        indices = _NO_INDICES
        if self._learner.bootstrap:
            room.random.seed(seed)  # making a generator takes a hundred times as long
            indices = room.random.randint(0, self.n_rows, self.n_rows)
        room.random.seed(seed)
        seed_of_splits = np.uint32(room.random.randint(0, _INT32_MAX))
        targets, groups = self.targets, self.groups
        n_sampled = draw(
            indices,
            self.n_rows,
            groups.group,
            targets.start,
            targets.labels,
            groups.slot,
            groups.label_start,
            groups.labels,
            room.n_drawn,
            room.group_weight,
            room.group_size,
            room.group_counts,
            room.sample,
            room.work.rows,
        )
        n_nodes = grow(
            self.columns,
            room.sample,
            n_sampled,
            targets.single,
            self._rules,
            float(self._learner.min_impurity_decrease),
            seed_of_splits,
            room.work,
            room.tree,
        )
        return n_nodes, n_sampled

    def _leaves(self, seed: int, rows: tuple, room: _Room) -> tuple:
        n_nodes, _ = self._grow(seed, room)
        n_rows, X, start, feature = rows
        leaf = np.empty(n_rows, dtype=np.int32)
        if start is None:
            leaves_dense(room.tree, X, leaf)
        else:
            leaves_sparse(room.tree, start, feature, X, room.one_row, leaf)
        leaf_weight = np.empty(n_rows, dtype=np.int64)
        label_start = np.empty(n_rows + 1, dtype=np.int64)
        _, labels, counts = leaf_labels(
            room.tree, n_nodes, room.sample, leaf, room.label_counts, room.known, leaf_weight, label_start
        )
        return leaf, label_start, labels, counts, leaf_weight


_NO_INDICES = np.empty(0, dtype=np.int64)


class _Room:
    """What growing trees needs, once for each thread."""

    def __init__(self, forest: Forest):
        columns, targets = forest.columns, forest.targets
        n = len(columns.start) - 1
        p, n_labels, n_entries = len(columns.kind), targets.n_labels, len(columns.feature)
        n_labelled = len(targets.labels)
        n_kept = n_entries if forest.keeps_lists else 0

        def ints(size: int | tuple[int, int]) -> np.ndarray:
            return np.empty(size, dtype=np.int32)

        self.random = np.random.RandomState(0)  # seeded anew for each tree
        self.sample = Sample(ints((n, 4)), ints((n_labelled, 2)))
        n_nodes = 2 * n + 1
        self.tree = Tree(
            ints(n_nodes),
            np.empty(n_nodes),
            ints(n_nodes),
            ints(n_nodes),
            ints(n_nodes),
            ints(n_nodes),
            ints(n),
        )
        self.work = Work(
            rows=ints(n),
            place=ints(n),
            some_rows=ints(n),
            keys=np.empty(n, dtype=np.int64),
            spare=np.empty(n, dtype=np.int64),
            histogram=np.empty(512, dtype=np.int64),
            features=ints(p),
            bounds=np.zeros((p, 2), dtype=np.int32),
            end_before=np.full(p, -1, dtype=np.int32),
            moved=ints(p),
            loaded=ints(p),
            lists=np.empty(n_kept, dtype=np.int64),
            entry_place=ints(n_kept),
            saved=ints((_most_saved(n, p, n_kept) if n_kept else 0, 3)),
            mask=np.zeros(p, dtype=np.uint64),
            touched=ints(p),
            is_touched=_bits_of(columns.slot >= 0),
            total=np.zeros((n_labels, 2), dtype=np.int32),
            small_total=np.zeros((n_labels, 2), dtype=np.int32),
            present=ints(n_labels),
            present_bits=np.zeros((n_labels + 63) // 64, dtype=np.uint64),
            stack=np.empty((n + 2, 10), dtype=np.int64),
            impurity=np.empty(n + 2),
            word=np.zeros(n + 2, dtype=np.uint64),
            best=np.empty(8),
            counters=np.zeros(2, dtype=np.int64),
        )
        groups = forest.groups
        n_groups = len(groups.label_start) - 1 if len(groups.group) else 0
        self.n_drawn = ints(forest.n_rows)
        self.group_weight = ints(n_groups)
        self.group_size = ints(n_groups)
        self.group_counts = ints(len(groups.labels))
        self.one_row = np.zeros(p, dtype=np.float32)
        self.label_counts = np.zeros(n_labels, dtype=np.int32)
        self.known = ints(n_nodes)


def _most_saved(n: int, p: int, n_entries: int) -> int:
    """Return how many lists can wait: of smaller children, which share no rows, and of larger ones, which halve."""
    return min(n_entries, p * (n // WORD + 1)) + p * (n.bit_length() + 1)


def _bits_of(given: np.ndarray) -> np.ndarray:
    """Return words with a bit for every truth value."""
    words = np.zeros((len(given) + 63) // 64, dtype=np.uint64)
    places = np.flatnonzero(given)
    np.bitwise_or.at(words, places >> 6, np.uint64(1) << (places & 63).astype(np.uint64))
    return words


def _worth_keeping(columns: Columns, n_drawn: int) -> bool:
    """Whether lists that follow the nodes are less work than looking through whole lists at every large node."""
    n, n_entries = len(columns.start) - 1, len(columns.feature)
    if n <= WORD:
        return False
    looking = n / 8 * n_drawn * n_entries / len(columns.kind)
    keeping = 4 * n_entries * np.log2(n / WORD)
    return bool(looking > keeping)


def _n_drawn(max_features: Any, n_features: int) -> int:
    """Return how many features a node draws, as scikit-learn counts them."""
    if max_features == "sqrt":
        return max(1, int(np.sqrt(n_features)))
    if max_features == "log2":
        return max(1, int(np.log2(n_features)))
    if max_features is None:
        return n_features
    if isinstance(max_features, float):
        return max(1, int(max_features * n_features))
    return int(max_features)


def _rows_to_predict(X: Any) -> tuple:
    """Return the number of rows, their values, and for sparse ones where rows begin and features."""
    if not sparse.issparse(X):
        return X.shape[0], np.ascontiguousarray(X, dtype=np.float32), None, None
    X = X.astype(np.float32).tocsr()
    X.sum_duplicates()
    return X.shape[0], X.data, X.indptr, X.indices
