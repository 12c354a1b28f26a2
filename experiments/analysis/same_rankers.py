"""Which rankers count as one: those with equal F1 in every fold, and stand-ins for skrebate's.

On features with two values the absMean update gives the weights of the plain one, so that the two are one ranker
there; others are the same because their weights tie. Places 1 and 3 of such rankers would say nothing.

Rankers of this library that give the weights of skrebate's stand in for them where those were not run, but never
for times. ``docs/studies.md`` tells how near their weights are.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

import numpy as np
import pandas as pd

from experiments.analysis.ties import TIE

#: What is compared, fold by fold: numbers of features, and F1 at each of them.
_CURVES = ("grid", "f1_micro", "f1_macro")

#: Ranker of skrebate → the one that stands for it.
STAND_INS = {
    "skrebate_relieff": "relieff_as_skrebate",
    "skrebate_surf": "surf_as_skrebate",
    "skrebate_multisurf": "multisurf_as_skrebate",
    "skrebate_multisurf_star": "multisurf_star_as_skrebate",
}
_STANDS_FOR = {stand_in: ranker for ranker, stand_in in STAND_INS.items()}


@dataclass(frozen=True)
class SameRankers:
    """Groups of rankers that are the same.

    Attributes
    ----------
    everywhere : list of tuple of str
        Rankers that are the same on all data sets that they are complete on; two or more in each group.
    on : dict of str to list of tuple of str
        Data set → rankers that are the same on it, those of ``everywhere`` too. Data sets without such rankers are
        not in it.
    """

    everywhere: list[tuple[str, ...]] = field(default_factory=list)
    on: dict[str, list[tuple[str, ...]]] = field(default_factory=dict)


def same_rankers(rows: pd.DataFrame) -> SameRankers:
    """Find the rankers whose F1 curves are equal in every fold.

    Rankers and groups in the order of ``rows``. Two rankers are the same when they are complete on the same
    data sets, and have on each of them, in every fold, the same numbers of features and the same micro and
    macro F1 at each of them, to 1e-12 of the larger value.
    """
    folds = list(zip(rows["repeat"].tolist(), rows["fold"].tolist(), strict=True))
    along = [
        np.concatenate(each).astype(float) for each in zip(*(rows[name] for name in _CURVES), strict=True)
    ]
    curves = {
        (str(dataset), str(ranker)): {folds[place]: along[place] for place in places}
        for (dataset, ranker), places in rows.groupby(["dataset", "ranker"], sort=False).indices.items()
    }
    rankers = [str(each) for each in rows["ranker"].unique()]
    of_ranker: dict[str, dict[str, dict[tuple, np.ndarray]]] = {ranker: {} for ranker in rankers}
    for (dataset, ranker), found in curves.items():
        of_ranker[ranker][dataset] = found
    on = {}
    for dataset in rows["dataset"].unique():
        there = [ranker for ranker in rankers if str(dataset) in of_ranker[ranker]]
        groups = _groups(there, {ranker: {str(dataset): of_ranker[ranker][str(dataset)]} for ranker in there})
        if groups:
            on[str(dataset)] = groups
    return SameRankers(_groups(rankers, of_ranker), on)


def same_in_words(
    groups: Sequence[Sequence[str]],
    labels: Mapping[str, str],
    *,
    panels: Mapping[str, str] | None = None,
    variants: Mapping[str, str] | None = None,
) -> str:
    """Name groups of rankers that are the same, in one line.

    Names of a group joined by " = ", groups by "; ". "" for no group.
    """
    panels, variants = panels or {}, variants or {}
    every = {variant for variant in variants.values() if variant}
    told: dict[tuple[str, ...], list[str]] = {}
    for group in groups:
        shared = {variants.get(ranker, "") for ranker in group}
        if len(shared) == 1 and "" not in shared:
            names = tuple(panels.get(ranker, labels.get(ranker, ranker)) for ranker in group)
            told.setdefault(names, []).append(next(iter(shared)))
        else:
            told.setdefault(tuple(labels.get(ranker, ranker) for ranker in group), [])
    parts = []
    for names, of in told.items():
        known = "with every target distance" if len(of) > 1 and set(of) == every else ", ".join(of)
        parts.append(" = ".join(names) + (f" ({known})" if known else ""))
    return "; ".join(parts)


def _groups(rankers: Sequence[str], curves: Mapping[str, Mapping[str, Mapping]]) -> list[tuple[str, ...]]:
    groups: list[list[str]] = []
    for ranker in rankers:
        for group in groups:
            if _equal(curves[group[0]], curves[ranker]):
                group.append(ranker)
                break
        else:
            groups.append([ranker])
    return [tuple(group) for group in groups if len(group) > 1]


def _equal(a: Mapping[str, Mapping], b: Mapping[str, Mapping]) -> bool:
    if set(a) != set(b):
        return False
    return all(
        set(a[dataset]) == set(b[dataset])
        and all(_close(a[dataset][fold], b[dataset][fold]) for fold in a[dataset])
        for dataset in a
    )


def _close(a: np.ndarray, b: np.ndarray) -> bool:
    if a.shape != b.shape:
        return False
    with np.errstate(invalid="ignore"):
        near = np.abs(a - b) <= TIE * np.maximum(np.abs(a), np.abs(b))
    return bool((near | (a == b) | (np.isnan(a) & np.isnan(b))).all())


def stands_for(ranker: str) -> str:
    """Return the ranker that one counts as.

    skrebate's ranker for a stand-in, else ``ranker`` itself.
    """
    return _STANDS_FOR.get(ranker, ranker)


def stand_ins_said(names: Sequence[str]) -> str:
    """Say which rankers stand for skrebate's.

    A sentence.
    """
    stand, give = ("stands", "it gives") if len(names) == 1 else ("stand", "they give")
    return f"{', '.join(names)} {stand} for skrebate's own, whose weights {give} but for ties."
