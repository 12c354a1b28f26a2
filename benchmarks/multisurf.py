"""The races of MultiSURF: digits and wide data. What it takes on sparse data is in :mod:`benchmarks.own`."""

from __future__ import annotations

from benchmarks.workloads import SINGLE, Check, Contender, Data, Workload, digits, tie_free, wide


def two_classes(data):
    """Even classes against odd ones: with two classes, all implementations of MultiSURF share a definition."""
    return Data(data.X, data.y % 2, f"{data.description}, even classes against odd ones")


def multisurf_check(peer, on, tolerance, reason, parameters, compatible=None):
    settings = {"ranker": "MultiSURF", "parameters": parameters}
    return Check(
        peer,
        peer,
        on,
        reason,
        tolerance,
        settings,
        {"ranker": "MultiSURF", "parameters": {"compatible": compatible}},
    )


def race_workloads(tiny=False):
    """Return the races of MultiSURF, by name."""
    our_settings = {"ranker": "MultiSURF"}
    fast = {"ranker": "MultiSURF", "parameters": {}}
    fast_continuous = {"ranker": "MultiSURF", "parameters": {"discrete_limit": 0}}
    pooled = "misses of all classes are one group here, with us each class counts by its share"
    borders = "a row within single precision of a threshold may be on its other side"

    def digits_of_all_kinds():
        timed = digits(tiny)
        free = tie_free(timed, tiny)
        return {"timed": timed, "tie_free": free, "two_classes": two_classes(free)}

    def wide_of_both_kinds():
        timed = wide(tiny)
        return {"timed": timed, "two_classes": two_classes(timed)}

    continuous = {"discrete_limit": 0}
    return {
        "multisurf_digits": Workload(
            "MultiSURF, digits",
            digits_of_all_kinds,
            [
                Contender("ours", "ours", our_settings),
                Contender("fast_select", "fast_select", fast, goal=2),
                Contender("fast_select, all continuous", "fast_select", fast_continuous, goal=2),
                Contender("skrebate", "skrebate", {"ranker": "MultiSURF"}, goal=200, once_above=10.0),
            ],
            lambda data: [
                multisurf_check(
                    "fast_select", "two_classes", 1e-3, f"one definition; {SINGLE}, and {borders}", continuous
                ),
                multisurf_check("fast_select", "tie_free", None, pooled, continuous),
                multisurf_check(
                    "skrebate",
                    "two_classes",
                    1e-9,
                    "one definition (every column declared continuous)",
                    {"categorical_features": []},
                ),
                multisurf_check(
                    "skrebate",
                    "tie_free",
                    1e-9,
                    'one definition with compatible="skrebate" (every column declared continuous)',
                    {"categorical_features": []},
                    compatible="skrebate",
                ),
            ],
        ),
        "multisurf_wide": Workload(
            "MultiSURF, wide random data",
            wide_of_both_kinds,
            [
                Contender("ours", "ours", our_settings),
                Contender("fast_select", "fast_select", fast, goal=4),
            ],
            lambda data: [
                multisurf_check(
                    "fast_select",
                    "two_classes",
                    1e-2,
                    f"one definition; {SINGLE}, and 20,000 terms a distance; {borders}",
                    continuous,
                ),
                multisurf_check("fast_select", "timed", None, pooled, continuous),
            ],
        ),
    }
