"""Orders in which samples exchange their values: all of them, or groups as wholes."""

from __future__ import annotations

from typing import Any

import numpy as np
from scipy import sparse


class Exchange:
    """Random orders of samples that stay within their groups.

    Without groups every order of the samples has the same probability. With groups, values go from one group
    to another one of the same size as wholes, the samples inside a group in their order; a group whose size
    occurs once keeps its values. Values that are constant within every group are permuted among all groups,
    whatever their size.

    Parameters
    ----------
    n : int
        Number of samples.
    groups : array-like of shape (n,), optional
        Group of each sample: numbers, text or anything else that can be a key of a dict.

    Raises
    ------
    ValueError
        For groups of another length, with missing values, or if there is one group only.
    """

    def __init__(self, n: int, groups: Any = None):
        self._n = n
        self._codes = None
        if groups is None:
            return
        self._codes = group_codes(groups, n)
        sizes = np.bincount(self._codes)
        if sizes.shape[0] < 2:
            raise ValueError("groups has a single group; permutations need at least 2.")
        self._first = np.unique(self._codes, return_index=True)[1]  # sample of each group
        by_group = np.split(np.argsort(self._codes, kind="stable"), np.cumsum(sizes)[:-1])
        self._blocks = [
            np.stack([by_group[g] for g in np.flatnonzero(sizes == size)])
            for size in np.unique(sizes)
            if (sizes == size).sum() > 1
        ]

    def is_constant(self, values: Any) -> bool:
        """Return whether values (n,), or rows (n, q), are the same in all samples of every group."""
        if self._codes is None:
            return False
        first = self._first[self._codes]
        if sparse.issparse(values):
            return (values != values[first]).nnz == 0
        values = np.asarray(values)
        other = values[first]
        same = values == other
        if values.dtype.kind in "fOmM":
            same = same | ((values != values) & (other != other))  # NaN is like NaN
        return bool(np.all(same))

    def order(self, rng: np.random.Generator, constant: bool = False) -> np.ndarray:
        """Return whose value each sample gets.

        Parameters
        ----------
        rng : Generator
            Source of random numbers.
        constant : bool, default=False
            Whether the values are constant within groups, see :meth:`is_constant`.

        Returns
        -------
        int64 ndarray of shape (n,)

        Raises
        ------
        ValueError
            If values vary within groups and no two groups have the same size.
        """
        if self._codes is None:
            return rng.permutation(self._n)
        if constant:
            return self._first[rng.permutation(self._first.shape[0])][self._codes]
        if not self._blocks:
            raise ValueError(
                "groups: no two groups have the same size, so values that vary within groups stay."
            )
        order = np.arange(self._n)
        for block in self._blocks:
            order[block] = block[rng.permutation(block.shape[0])]
        return order


def group_codes(groups, n):
    """Return a number for the group of each sample, groups numbered as they occur."""
    if np.ndim(groups) != 1:
        raise ValueError(
            f"groups must be one value for each sample, not an array of {np.ndim(groups)} dimensions."
        )
    given = groups.tolist() if hasattr(groups, "tolist") else list(groups)
    if len(given) != n:
        raise ValueError(f"groups has {len(given)} values, but X has {n} samples.")
    numbers = {}
    codes = np.empty(n, dtype=np.int64)
    for i, group in enumerate(given):
        if group is None or type(group).__name__ == "NAType" or group != group:
            raise ValueError(f"groups is missing for sample {i}; give each sample a group, or leave it out.")
        codes[i] = numbers.setdefault(group, len(numbers))
    return codes
