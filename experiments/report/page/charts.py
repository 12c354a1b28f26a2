"""What the page's charts draw: plain lists and dictionaries for JSON, rounded to what can be seen."""

from __future__ import annotations

import base64
import math
from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
import pandas as pd

from experiments.analysis.pairs import ROPE
from experiments.analysis.same_rankers import stand_ins_said, stands_for
from experiments.figures import style
from experiments.formatting import similarity_digits
from experiments.report.page import sentences
from experiments.report.page.context import Facts

#: Posterior draws of all pairs together that a page holds; more overlap in a triangle.
_MOST_DRAWS = 90_000
_FEWEST, _MOST = 60, 1000
#: Significant digits of numbers that the page's script writes itself: rounded twice, 11.4549 would become 11.46.
_WRITTEN = 12
#: A coordinate of a draw takes two bytes.
_STEPS = 65535


def data_of(f: Facts) -> dict[str, Any]:
    """Gather what the charts of a comparison draw."""
    ranks = {}
    for key in f.c.measures:
        given = f.c.ranks[key]
        if given is None:
            continue
        ranks[key] = {
            "rankers": [f.rankers.index(ranker) for ranker in given.average_ranks.index],
            "ranks": rounded(given.average_ranks, _WRITTEN),
            "cd": one(given.cd, _WRITTEN),
            "out_of_reach": given.out_of_reach,
            "cliques": [[f.rankers.index(ranker) for ranker in clique] for clique in given.cliques],
            "friedman": one(given.friedman_p, _WRITTEN),
            "no_test": given.no_test,
            "used": list(given.used),
            "left_out": [
                f"{dataset} (not complete: {sentences.listed([f.label.get(r, r) for r in rankers])})"
                for dataset, rankers in given.left_out.items()
            ],
        }
    cost: dict[str, dict[str, Any]] = {}
    for (measure, dataset), points in f.cost.groupby(["measure", "dataset"], sort=False):
        cost.setdefault(measure, {})[dataset] = [
            [f.rankers.index(p.ranker), one(p.seconds, _WRITTEN), one(p.quality, _WRITTEN), p.best_value]
            for p in points.itertuples()
        ]
    return {
        "rankers": [
            {"key": ranker, "label": f.label[ranker], "href": f"#{f.page_id(ranker)}", **look}
            for ranker, look in zip(f.rankers, looks(f.rankers), strict=True)
        ],
        "datasets": f.datasets,
        "measures": {key: measure.title for key, measure in f.c.measures.items()},
        "score": f.group.kind.score,
        "undefined": f.group.kind.undefined,
        "curves": curves(f.c.curves, f.rankers),
        "reasons": dict(f.c.rank_reasons),
        "areas": {
            dataset: rounded(f.c.scores["aurf1"].loc[dataset].reindex(f.rankers))
            for dataset in f.c.scores["aurf1"].index
        },
        "ranks": ranks,
        "cost": cost,
        "pairs": _triangles(f),
        "stand_ins": _stand_ins(f),
        "untested": f.untested,
        "rope": ROPE,
        "similarity": {
            key: square(frame, f.label)
            for key, frame in (f.c.similarity or {}).items()
            if frame is not None and len(frame)
        },
        "chosen": chosen(f.c.best_features, f.rankers),
    }


def _triangles(f: Facts) -> list[list[Any]]:
    if f.c.posterior is None or f.pairs is None:
        return []
    draws = f.c.posterior.draws
    return [
        [
            f.rankers.index(line.ranker_a),
            f.rankers.index(line.ranker_b),
            *rounded([line.p_a, line.p_rope, line.p_b], _WRITTEN),
            int(line.n_datasets),
            bool(line.in_paper),
            line.message or "",
            triangle(draws.get((line.ranker_a, line.ranker_b)), len(f.pairs)),
        ]
        for line in f.pairs.itertuples()
    ]


def _stand_ins(f: Facts) -> str:
    """Say which rankers of the paper's pairs stand for skrebate's; "" for none."""
    if f.pairs is None or not len(f.pairs):
        return ""
    shown = f.pairs[f.pairs["in_paper"].astype(bool)]  # a table without lines has columns of objects
    rankers = dict.fromkeys(shown[["ranker_a", "ranker_b"]].to_numpy().ravel())
    names = [f.label[ranker] for ranker in rankers if stands_for(ranker) != ranker]
    return stand_ins_said(names) if names else ""


def looks(rankers: Sequence[str]) -> list[dict[str, Any]]:
    """Give the rankers of a study the looks they have in its figures."""
    given = style.ranker_looks(rankers)
    return [
        {
            "color": given[ranker].color,
            "dashes": "" if isinstance(given[ranker].dashes, str) else _dashes(given[ranker].dashes),
            "marker": given[ranker].marker,
        }
        for ranker in rankers
    ]


def curves(frame: pd.DataFrame, rankers: Sequence[str]) -> dict[str, list[dict[str, Any]]]:
    """Pack rF1 curves."""
    place = {ranker: number for number, ranker in enumerate(rankers)}
    packed: dict[str, list[dict[str, Any]]] = {}
    for (dataset, ranker), points in frame.groupby(["dataset", "ranker"], sort=False):
        packed.setdefault(dataset, []).append(
            {
                "ranker": place[ranker],
                "x": [int(size) for size in points["n_features"]],
                "mean": rounded(points["rf1_mean"]),
                "lower": rounded(points["rf1_lower"]),
                "upper": rounded(points["rf1_upper"]),
                "undefined": int(points["n_undefined"].max()),
            }
        )
    return packed


def chosen(frame: pd.DataFrame, rankers: Sequence[str]) -> dict[str, dict[str, Any]]:
    """Pack the features that rankers chose."""
    place = {ranker: number for number, ranker in enumerate(rankers)}
    packed: dict[str, dict[str, Any]] = {}
    for dataset, part in frame.groupby("dataset", sort=False):
        names = {column: number for number, column in enumerate(part["column"].unique())}
        of_rankers = {}
        for ranker, lines in part.groupby("ranker", sort=False):
            first = lines.iloc[0]
            of_rankers[str(place[str(ranker)])] = {
                "folds": int(first["n_folds"]),
                "without": int(first["folds_without"]),
                "tied": int(first["folds_tied"]),
                "best": [
                    [names[line.column], *rounded([line.chosen, line.mean_rank, line.mean_weight], _WRITTEN)]
                    for line in lines.itertuples()
                ],
            }
        packed[str(dataset)] = {
            "features": int(part["n_features"].iloc[0]),
            "names": list(part.drop_duplicates("column")["feature"]),
            "rankers": of_rankers,
        }
    return packed


def triangle(draws: np.ndarray | None, n_pairs: int) -> str:
    """Pack posterior draws of one pair."""
    if draws is None or not len(draws):
        return ""
    kept = int(np.clip(_MOST_DRAWS // max(n_pairs, 1), _FEWEST, _MOST))
    chosen = np.asarray(draws)[np.linspace(0, len(draws) - 1, min(kept, len(draws))).astype(int), :2]
    return base64.b64encode(np.rint(chosen * _STEPS).astype("<u2").tobytes()).decode("ascii")


def rounded(values: Any, digits: int = 5) -> list[float | None]:
    """Round to significant digits; None where there is no number."""
    return [one(value, digits) for value in np.asarray(values, dtype=float).ravel()]


def one(value: float, digits: int = 5) -> float | None:
    """Round one number; None where there is none."""
    value = float(value)
    return float(f"{value:.{digits}g}") if math.isfinite(value) else None


def square(frame: pd.DataFrame, labels: Mapping[str, str]) -> dict[str, Any]:
    """Pack a matrix of rankers × rankers in its own order, and with how many decimals it is written."""
    values = frame.to_numpy(dtype=float)
    return {
        "names": [labels[name] for name in frame.index],
        "keys": [str(name) for name in frame.index],
        "values": [rounded(row, _WRITTEN) for row in values],
        "digits": similarity_digits(values[~np.eye(len(values), dtype=bool)]),
    }


def _dashes(given: tuple) -> str:
    # matplotlib's unit is the line's width.
    return " ".join(f"{1.8 * length:g}" for length in given[1])
