"""Lists of the rows that do not have the most frequent value of a feature, as nodes are split.

While a node is large, either the part of every list that lies in the node is kept together: when the node is
split, the rows of the smaller child are moved to the ends of their lists. Or whole lists are looked through for the
rows of the node, which is less work when they are short.
"""

from __future__ import annotations

import numpy as np

from experiments.learners.kernels import inner_kernel
from experiments.learners.kernels.layout import DENSE, FEW, ROW


@inner_kernel
def make_lists(columns, n_rows, work):
    """List the rows of each sparse feature."""
    bounds, lists, entry_place = work.bounds, work.lists, work.entry_place
    feature, start = columns.feature, columns.start
    n_features = bounds.shape[0]
    for f in range(n_features):
        bounds[f, 0] = columns.region[f]
        bounds[f, 1] = columns.region[f]
        work.loaded[f] = f
    for a in range(n_rows):
        i = np.int64(work.rows[a])
        for q in range(start[i], start[i + 1]):
            f = feature[q]
            at = bounds[f, 1]
            bounds[f, 1] = at + 1
            lists[at] = (q << 32) | i
            entry_place[q] = at
    return n_features


@inner_kernel
def drop(columns, work, first, last):
    """Take rows out of the lists."""
    feature, start, rows = columns.feature, columns.start, work.rows
    bounds, lists, entry_place = work.bounds, work.lists, work.entry_place
    for a in range(first, last):
        i = rows[a]
        for q in range(start[i], start[i + 1]):
            f = feature[q]
            at = entry_place[q]
            tail = bounds[f, 1] - 1
            bounds[f, 1] = tail
            if at != tail:
                other = lists[tail]
                lists[at] = other
                entry_place[other >> 32] = at


@inner_kernel
def move(columns, work, first, last):
    """Move rows to the ends of the lists, and the ends before them; return how many lists have such rows.

    These are ``moved``, and ``end_before`` their ends as they were.
    """
    feature, start, rows = columns.feature, columns.start, work.rows
    bounds, lists, entry_place = work.bounds, work.lists, work.entry_place
    end_before, moved = work.end_before, work.moved
    n_moved = 0
    for a in range(first, last):
        i = np.int64(rows[a])
        for q in range(start[i], start[i + 1]):
            f = feature[q]
            at = entry_place[q]
            tail = bounds[f, 1] - 1
            if end_before[f] < 0:
                end_before[f] = tail + 1
                moved[n_moved] = f
                n_moved += 1
            bounds[f, 1] = tail
            if at != tail:
                other = lists[tail]
                lists[at] = other
                entry_place[other >> 32] = at
                lists[tail] = (q << 32) | i
                entry_place[q] = tail
    return n_moved


@inner_kernel
def save_moved(work, n_moved, n_saved):
    """Put the lists of the rows that were moved aside; return how many are aside now."""
    bounds, end_before, saved = work.bounds, work.end_before, work.saved
    for a in range(n_moved):
        f = work.moved[a]
        saved[n_saved, 0], saved[n_saved, 1], saved[n_saved, 2] = f, bounds[f, 1], end_before[f]
        end_before[f] = -1
        n_saved += 1
    return n_saved


@inner_kernel
def save_others(work, n_loaded, n_saved):
    """Put the lists of the rows that were not moved aside; return how many are aside now."""
    bounds, saved = work.bounds, work.saved
    for a in range(n_loaded):
        f = work.loaded[a]
        if bounds[f, 1] > bounds[f, 0]:
            saved[n_saved, 0], saved[n_saved, 1], saved[n_saved, 2] = f, bounds[f, 0], bounds[f, 1]
            n_saved += 1
    return n_saved


@inner_kernel
def take_moved(work, n_moved, n_loaded):
    """Go on with the rows that were moved; return how many lists are not empty."""
    bounds, end_before, loaded = work.bounds, work.end_before, work.loaded
    for a in range(n_loaded):
        f = loaded[a]
        bounds[f, 0] = bounds[f, 1]
    for a in range(n_moved):
        f = work.moved[a]
        bounds[f, 1] = end_before[f]
        end_before[f] = -1
        loaded[a] = f
    return n_moved


@inner_kernel
def load(work, n_loaded, first, last):
    """Go on with lists that were put aside; return how many are not empty."""
    bounds, loaded, saved = work.bounds, work.loaded, work.saved
    for a in range(n_loaded):
        f = loaded[a]
        bounds[f, 0] = bounds[f, 1]
    for a in range(first, last):
        f = saved[a, 0]
        bounds[f, 0], bounds[f, 1] = saved[a, 1], saved[a, 2]
        loaded[a - first] = f
    return last - first


@inner_kernel
def kept_rows(lists, begin, end, some_rows):
    """Copy the rows of a list."""
    for at in range(begin, end):
        some_rows[at - begin] = lists[at] & ROW


@inner_kernel
def rows_inside(list_row, list_key, first, last, place, start, end, some_rows):
    """Find the rows of a node in a whole list; return how many."""
    n_inside = np.int64(0)
    with_rank = list_key.shape[0] > 0
    for q in range(np.uint64(first), np.uint64(last)):
        i = np.uint32(list_key[q]) if with_rank else np.uint32(list_row[q])
        some_rows[np.uint64(n_inside)] = i
        n_inside += (start <= place[i]) & (place[i] < end)
    return n_inside


@inner_kernel
def kept_keys(lists, begin, end, rank, keys):
    """Make keys of the rows of a list."""
    for at in range(begin, end):
        keys[at - begin] = (np.int64(rank[lists[at] >> 32]) << 32) | (lists[at] & ROW)


@inner_kernel
def keys_inside(list_key, first, last, place, start, end, keys):
    """Copy the keys of the rows of a node from a whole list; return how many."""
    n_inside = np.int64(0)
    for q in range(np.uint64(first), np.uint64(last)):
        key = list_key[q]
        at = place[np.uint32(key)]
        keys[np.uint64(n_inside)] = key
        n_inside += (start <= at) & (at < end)
    return n_inside


@inner_kernel
def part(columns, work, f, low, start, end, keeps_lists):
    """Bring rows whose value of a feature has rank ``low`` or less to the left; return where the others begin."""
    rows, place, some, keys = work.rows, work.place, work.some_rows, work.keys
    n_movers = 0
    default_left = columns.default[f] <= low
    region = columns.region
    begin, stop = work.bounds[f, 0], work.bounds[f, 1]
    if columns.kind[f] == DENSE:
        default_left = True
        ranks = columns.ranks[columns.slot[f]]
        for a in range(start, end):
            if ranks[rows[a]] > low:
                some[n_movers] = rows[a]
                n_movers += 1
    elif columns.kind[f] == FEW:
        if keeps_lists:
            n_keys = stop - begin
            kept_keys(work.lists, begin, stop, columns.rank, keys)
        else:
            n_keys = keys_inside(columns.list_key, region[f], region[f + 1], place, start, end, keys)
        for a in range(n_keys):
            if ((keys[a] >> 32) <= low) != default_left:
                some[n_movers] = keys[a] & ROW
                n_movers += 1
    elif keeps_lists:
        n_movers = stop - begin
        kept_rows(work.lists, begin, stop, some)
    else:
        n_movers = rows_inside(
            columns.list_row, columns.list_key, region[f], region[f + 1], place, start, end, some
        )
    # Those that move change places with the rows at that end; rows and places stay each other's inverse.
    at_end = end
    for a in range(n_movers):
        i = some[a]
        if default_left:
            at_end -= 1
            goal = at_end
        else:
            goal = start
            start += 1
        other = rows[goal]
        source = place[i]
        rows[source] = other
        place[other] = source
        rows[goal] = i
        place[i] = goal
    return at_end if default_left else start
