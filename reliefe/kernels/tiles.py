"""Blocks of distances cut into tiles, and distances that stand in two places measured once."""

from __future__ import annotations

import numpy as np

from reliefe.kernels import kernel

#: Rows that are measured from together.
SIDE = np.int64(64)


@kernel()
def tiles(lo, hi, first, mirrored, n, width):
    """Cut some rows of a block of distances into tiles.

    Parameters
    ----------
    lo, hi : int
        Rows of the block.
    first : int
        Place of the block's first row.
    mirrored : bool
        Whether the rows of the block stand one after the other. Distances to those among them that come before a
        tile are then left out; :func:`mirror` puts them there.
    n : int
        Number of places, 0 … n − 1, that distances are measured to.
    width : int
        How many places a tile has at most.

    Returns
    -------
    list of (int, int, int, int)
        First row of each tile, the row after its last, its first place, and the place after its last. Rows rise, at
        most :data:`SIDE` a tile; of equal rows, places do.
    """
    found = []
    for r0 in range(lo, hi, SIDE):
        r1 = min(hi, r0 + SIDE)
        if mirrored:  # what lies left of the block's own rows
            for m0 in range(0, first, width):
                found.append((r0, r1, m0, min(first, m0 + width)))
        for m0 in range(first + r0 if mirrored else 0, n, width):
            found.append((r0, r1, m0, min(n, m0 + width)))
    return found


@kernel()
def mirror(first, lo, hi, out):
    """Copy distances between rows of a block to where the other row of the pair stands.

    Parameters
    ----------
    first : int
        Place of the block's first row.
    lo, hi : int
        Rows of the block whose distances to the later rows of it are copied.
    out : array of shape (b, n)
        Distances from rows that follow one another to all rows.
    """
    b = out.shape[0]
    for r0 in range(lo, hi, SIDE):
        r1 = min(hi, r0 + SIDE)
        for m0 in range(r1, b, SIDE):
            for m in range(m0, min(b, m0 + SIDE)):
                for r in range(r0, r1):
                    out[m, first + r] = out[r, first + m]
