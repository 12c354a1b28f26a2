"""What ReliefF and ReliefE share: a loop over samples, each of which is compared with its neighbours."""

from __future__ import annotations

import time
from typing import Any, Self

import numpy as np
from numpy.typing import ArrayLike
from sklearn.utils import ClassifierTags, check_random_state

from reliefe.base import Prepared, Ranker, without_noise


class NeighbourRanker(Ranker):
    """A ranker with a number of neighbours for each sample; a subclass says where they are looked for.

    A subclass has the parameters of :class:`reliefe.ReliefF`, or those without which :meth:`_parameter` can do.
    """

    def check_parameters(self) -> None:
        """As :meth:`reliefe.base.Ranker.check_parameters`."""
        from reliefe.parameters import check_parameters

        check_parameters(self)

    def fit(self, X: Any, y: Any, sample_weight: ArrayLike | None = None) -> Self:
        """Compute the weights.

        Parameters
        ----------
        X : array-like, data frame or sparse matrix of shape (n, p)
            Numbers of any type, finite or, with ``missing="ignore"``, NaN; at least 2 samples. Not modified. Sparse
            matrices are never made dense.
        y : array-like of shape (n,), or array-like or sparse matrix of shape (n, q) with q ≥ 2
            Class of each sample (numbers, text or booleans, at least two different), or 0/1 for each of q labels
            (multi-label; samples without a label are allowed, but not all samples may have the same labels). With
            ``target="regression"``, a number per sample.
        sample_weight : array-like of shape (n,), optional
            What each sample counts, from 0 on: its update is multiplied by it, sums are divided by the sum of the
            weights, and P(q) is the share of class q in it. Ranges of features and neighbours are those of all
            samples, also of those that weigh 0. Not with label sets.

        Returns
        -------
        self

        Raises
        ------
        TypeError, ValueError
            For a wrong parameter, for X with NaN, infinity or text, for y of another length, with missing
            labels, with one class only or one feature only. The message names the parameter or the place.
        """
        self._fit(X, y, sample_weight)
        return self

    def _fit(self, X, y, sample_weight=None):
        """Compute the weights; return what was made of the data, a :class:`reliefe.base.Prepared`."""
        # Set below, but not by every fit.
        self._forget("n_neighbors_used_", "target_n_components_", "classes_", "discrete_features_")
        # Kernels are imported here: they cost a second, which `import reliefe` should not.
        from reliefe import compatible
        from reliefe.engine import Phases, relief_weights

        started = time.perf_counter()
        phases = Phases(type(self).__name__ if self.verbose else None)
        with phases("validation"):
            X, profile, y, sample_weight, discrete = self._checked(X, y, sample_weight)
            n = X.shape[0]
            random_state = check_random_state(self.random_state)
        with phases("normalise"):
            Z, full = self._prepared(X, profile, discrete)
            del X
        rows = self._rows_to_use(n, random_state)
        target, codes = self._target(y, random_state, phases)
        if sample_weight is not None:
            target.weigh(sample_weight, rows)
        # No more than the samples there are: the arrays behind this cannot hold any integer.
        groups = target.groups(None if self.n_neighbors == "adaptive" else min(self.n_neighbors, Z.shape[0]))
        if self._parameter("compatible") is not None and compatible.both_kinds(discrete):
            with phases("distances"):
                neighbours_of = compatible.distances(Z, discrete, groups)
        else:
            neighbours_of = self._neighbours_of(Z, full, codes, groups, random_state, phases)
        weights, used = relief_weights(
            Z, target, neighbours_of, rows, bool(self.abs_mean), self.n_jobs, phases, full
        )
        self._set_weights(without_noise(weights))
        self.sample_indices_ = rows
        if self.n_neighbors == "adaptive":
            self.n_neighbors_used_ = target.used(used)
        self.cached_seconds_ = phases.saved
        self.timings_ = {**phases.seconds, "total": time.perf_counter() - started + phases.saved}
        return Prepared(Z, full, y, rows)

    def _rows_to_use(self, n, random_state):
        """Return the samples to update from, ascending."""
        if self.n_iterations is None or self.n_iterations >= n:
            return np.arange(n, dtype=np.int64)
        return np.sort(random_state.choice(n, size=self.n_iterations, replace=False)).astype(np.int64)

    def _neighbours_of(self, Z, full, codes, groups, random_state, phases):
        """Return the object that finds neighbours, as :func:`reliefe.engine.relief_weights` takes it."""
        raise NotImplementedError

    def __sklearn_tags__(self):
        """Say what kinds of input are taken."""
        tags = super().__sklearn_tags__()
        tags.classifier_tags = None
        if self.target != "regression":
            # "0/1 for each of several labels" has its place here, as in scikit-learn's RFE, no classifier either.
            # target_tags.multi_output stays False: that is several columns of classes, which `fit` refuses.
            # As skrebate's it takes one class per sample.
            several = self._parameter("compatible") is None
            tags.classifier_tags = ClassifierTags(multi_class=True, multi_label=several)
        tags.input_tags.allow_nan = self._parameter("missing") == "ignore"
        return tags
