"""The rows of all studies that were evaluated as the paper's, each cell once, and only whole cells."""

from __future__ import annotations

import itertools
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cache
from importlib import resources
from typing import Any

import numpy as np
import pandas as pd
import yaml

from experiments.analysis import measurements
from experiments.analysis.same_rankers import STAND_INS
from experiments.analysis.scores import fold_scores
from experiments.analysis.ties import equalised_rows

#: Rows of a study, and its resolved configurations.
StudyRows = tuple[pd.DataFrame, Sequence[Mapping[str, Any]]]
Extents = Mapping[str, tuple[int, int]]

#: Cells that ended without a number, as some of the paper's own did.
SETTLED = ("timeout", "out_of_memory")
_CELL, _FOLD = ["dataset", "ranker"], ["repeat", "fold"]
#: With fewer numbers of features another one would be the best.
_FEWEST_POINTS = 50


@cache
def stated() -> dict[str, Any]:
    """Return claims.yaml: groups, pairs, studies and claims."""
    text = (resources.files("experiments.analysis.claims") / "claims.yaml").read_text(encoding="utf-8")
    return yaml.safe_load(text)


def expand(names: str | Sequence[str]) -> tuple[str, ...]:
    """Return names without groups: a group stands for its members, "a × b" for each of a with each of b."""
    if not isinstance(names, str):
        return tuple(dict.fromkeys(itertools.chain.from_iterable(map(expand, names))))
    if " × " in names:
        first, second = map(expand, names.split(" × "))
        return tuple(f"{one}_{other}" for one, other in itertools.product(first, second))
    groups = stated()["groups"]
    return expand(groups[names]) if names in groups else (names,)


def with_iterations(family: str, last: int) -> tuple[str, ...]:
    """Name a ranker with 1, 2, 4, … iterations up to ``last``, and with every sample once."""
    powers = [2**power for power in range(last.bit_length()) if 2**power <= last]
    return (*(f"{family}[n_iterations={power}]" for power in powers), family)


def n_iterations(ranker: str) -> int | None:
    """Return the number of iterations in a ranker's name; None for every sample once."""
    number = ranker.rstrip("]").partition("[n_iterations=")[2]
    return int(number) if number else None


def study_rankers(about: str) -> tuple[str, ...]:
    """Return the rankers of one of the paper's studies."""
    study = stated()["studies"][about]
    if "iterations" not in study:
        return expand(study["rankers"])
    most = max(study["iterations"].values())
    return tuple(name for family in study["rankers"] for name in with_iterations(family, most))


@dataclass(frozen=True)
class Cells:
    """Whole cells of one of the paper's studies, on its own data sets or on related ones."""

    datasets: tuple[str, ...]
    #: Rows of every fold; stand-ins are named as skrebate's rankers.
    scored: pd.DataFrame
    #: Rows of whole repeats with times; never those of stand-ins.
    timed: pd.DataFrame
    #: (data set, ranker) → "timeout" or "out_of_memory".
    ended: dict[tuple[str, str], str]
    labels: dict[str, str]
    _tables: dict[Any, Any] = field(default_factory=dict, repr=False)

    def whole(self, *, times: bool = False) -> set[tuple[str, str]]:
        """Return the (data set, ranker) that are whole, or ended as some of the paper's did."""
        rows = self.timed if times else self.scored
        return _pairs(rows) | self.ended.keys()

    def folds(self, measure: str) -> pd.DataFrame:
        """Return ``dataset``, ``ranker``, ``repeat`` and the ``value`` of a measure, a line for each fold."""
        if measure not in self._tables:
            rows = self.timed if measure == "fit_seconds" else self.scored
            values = rows[[*_CELL, "repeat"]].assign(value=fold_scores(rows, measure))
            self._tables[measure] = values
        return self._tables[measure]

    def table(
        self, measure: str, datasets: Sequence[str], rankers: Sequence[str], repeat: int | None
    ) -> pd.DataFrame:
        """Return means over folds, data sets × rankers; equal but for rounding is equal; NaN: not whole."""
        key = (measure, repeat)
        if key not in self._tables:
            folds = self.folds(measure)
            folds = folds if repeat is None else folds[folds["repeat"] == repeat]
            self._tables[key] = folds.groupby(_CELL)["value"].mean().unstack("ranker")
        return equalised_rows(self._tables[key].reindex(index=list(datasets), columns=list(rankers)))

    def curve(self, dataset: str, ranker: str, repeat: int | None) -> np.ndarray | None:
        """Return the mean rF1 curve of a cell; NaN where no fold has a value, None for a missing cell."""
        if "cells" not in self._tables:
            self._tables["cells"] = dict(list(self.scored.groupby(_CELL, sort=False)))
        rows = self._tables["cells"].get((dataset, ranker))
        if rows is None:
            return None
        rows = rows if repeat is None else rows[rows["repeat"] == repeat]
        values = np.array(rows["rf1_micro"].tolist(), dtype=float)
        defined = ~np.isnan(values)
        total, n = np.where(defined, values, 0.0).sum(axis=0), defined.sum(axis=0)
        return np.divide(total, n, out=np.full(len(total), np.nan), where=n > 0)

    def repeats(self, datasets: Sequence[str], rankers: Sequence[str], *, times: bool = False) -> list[int]:
        """Return the repeats that all data sets have."""
        rows = self.timed if times else self.scored
        rows = rows[rows["dataset"].isin(list(datasets)) & rows["ranker"].isin(list(rankers))]
        sets = [set(part) for _, part in rows.groupby("dataset")["repeat"]]
        return sorted(set.intersection(*sets)) if sets else []


@dataclass(frozen=True)
class Pool:
    """What claims are checked on: cells on the paper's data sets, on related ones, and measurements."""

    paper: dict[str, Cells] = field(default_factory=dict)
    related: dict[str, Cells] = field(default_factory=dict)
    #: Kind of measurement → :func:`experiments.analysis.measurements.points`.
    measured: dict[str, pd.DataFrame] = field(default_factory=dict)


def pool_of(studies: Sequence[StudyRows], extents: Extents | None = None) -> Pool:
    """Put the rows of studies into one pool; kinds of rows that none of them asks for are left out.

    ``extents``: (folds, repeats) of the paper's studies, by default those of claims.yaml.
    """
    extents = extents or {k: (study["folds"], study["repeats"]) for k, study in stated()["studies"].items()}
    asked: dict[str, list[StudyRows]] = {}
    measured: dict[str, list[pd.DataFrame]] = {}
    for frame, configs in studies:
        for about, own in _rankings(configs, extents).items():
            asked.setdefault(about, []).append((_rows(frame, "ranking", own), own))
        for kind, own in _by_kind(configs).items():
            measured.setdefault(kind, []).append(_rows(frame, kind, own))
    paper, related = {}, {}
    for about, parts in asked.items():
        study, (folds, repeats) = stated()["studies"][about], extents[about]
        paper[about] = _cells(parts, about, expand(study["datasets"]), folds, repeats)
        related[about] = _cells(parts, about, expand(study.get("related", [])), folds, None)
    points = {
        kind: measurements.points(pd.concat(parts).drop_duplicates([*_CELL, *_FOLD]), kind)
        for kind, parts in measured.items()
    }
    return Pool(paper, related, points)


def about_study(configs: Sequence[Mapping[str, Any]]) -> set[str]:
    """Return what claims a study's configurations are about."""
    return {*_rankings(configs), *_by_kind(configs)}


def _rankings(
    configs: Iterable[Mapping[str, Any]], extents: Extents | None = None
) -> dict[str, list[Mapping[str, Any]]]:
    """Divide configurations with rankings by the paper's study that they belong to."""
    asked: dict[str, list[Mapping[str, Any]]] = {}
    tasks = set()
    for config in configs:
        if not config["protocol"].get("measure"):
            tasks.add(config["dataset"]["task"])
            if (about := about_of(config, extents)) is not None:
                asked.setdefault(about, []).append(config)
    if not any("[n_iterations=" in each["ranker_key"] for each in asked.get("convergence", [])):
        asked.pop("convergence", None)  # as many folds, but not about iterations
    # Rankings that were evaluated in another way do not count, but the claims about them are shown.
    studies = stated()["studies"]
    for task, about in {"multiclass": "mcc", "multilabel": "mlc"}.items():
        if task in tasks and not any(studies[each]["task"] == task for each in asked):
            asked[about] = []
    return asked


def about_of(config: Mapping[str, Any], extents: Extents | None = None) -> str | None:
    """Return which of the paper's studies a configuration belongs to; None if it was evaluated otherwise."""
    protocol, task = config["protocol"], config["dataset"]["task"]
    if protocol.get("measure") or protocol.get("max_rows") is not None:
        return None
    if int(protocol.get("grid_points") or _FEWEST_POINTS) < _FEWEST_POINTS:
        return None
    learner = protocol.get("multilabel_learner" if task == "multilabel" else "learner") or {}
    for about, study in stated()["studies"].items():
        folds = study["folds"] if extents is None else extents[about][0]
        if task == study["task"] and int(protocol["n_splits"]) == folds:
            settings = study["learner"]
            same = all(learner[name] == value for name, value in settings.items() if name in learner)
            return about if same else None
    return None


def _by_kind(configs: Iterable[Mapping[str, Any]]) -> dict[str, list[Mapping[str, Any]]]:
    found: dict[str, list[Mapping[str, Any]]] = {}
    for config in configs:
        measure = config["protocol"].get("measure")
        if measure and config["protocol"].get("max_rows") is None:
            found.setdefault(measure["_target_"].rpartition(".")[2], []).append(config)
    return {kind: own for kind, own in found.items() if kind in measurements.KINDS}


def _rows(frame: pd.DataFrame, kind: str, configs: Sequence[Mapping[str, Any]]) -> pd.DataFrame:
    cells = {(each["dataset_key"], each["protocol"]["name"], each["ranker_key"]) for each in configs}
    rows = frame[frame["kind"] == kind]
    names = zip(rows["dataset"], rows["protocol"], rows["ranker"], strict=True)
    return rows[np.array([name in cells for name in names], dtype=bool)]


def _cells(
    parts: Sequence[StudyRows], about: str, datasets: Sequence[str], n_splits: int, n_repeats: int | None
) -> Cells:
    """Choose whole cells of ``n_repeats`` repeats; None: of those that all rankers of a data set have."""
    rankers = study_rankers(about)
    wanted = [*rankers, *(stand_in for own, stand_in in STAND_INS.items() if own in rankers)]
    labels: dict[str, str] = {}
    for _, configs in parts:
        for each in configs:
            labels.setdefault(
                each["ranker_key"], str(each["ranker"].get("display_name") or each["ranker_key"])
            )
    rows = pd.concat([rows for rows, _ in parts], ignore_index=True)
    rows = _once(rows[rows["dataset"].isin(list(datasets)) & rows["ranker"].isin(wanted)])
    ok = rows[(rows["status"] == "ok") & (rows["fold"] < n_splits)]
    ok = ok[_sizes(ok, [*_CELL, "repeat"]) == n_splits]
    stopped = rows[rows["status"].isin(SETTLED)].drop_duplicates(_CELL)
    ended = {(line.dataset, line.ranker): str(line.status) for line in stopped.itertuples()}
    for cell in _pairs(ok):
        ended.pop(cell, None)
    timed = ok[ok["fit_seconds"].notna() & ~ok["ranker"].isin(list(STAND_INS.values()))]
    timed = timed[_sizes(timed, [*_CELL, "repeat"]) == n_splits]
    if n_repeats is None:
        n_rankers = ok.groupby("dataset")["ranker"].nunique()
        having = ok.groupby(["dataset", "repeat"])["ranker"].transform("nunique")
        scored = ok[(having == ok["dataset"].map(n_rankers)).to_numpy(dtype=bool)]
    else:
        scored = ok[ok["repeat"] < n_repeats]
        scored = scored[_sizes(scored, _CELL) == n_splits * n_repeats]
    scored = _with_stand_ins(scored, ended)
    labels = {own: labels.get(own, labels.get(STAND_INS.get(own, own), own)) for own in rankers}
    place = {name: number for number, name in enumerate(datasets)}
    scored, timed = (
        each.sort_values(["dataset", *_FOLD], kind="stable", ignore_index=True,
                         key=lambda column: column.map(place) if column.name == "dataset" else column)
        for each in (scored, timed)
    )  # fmt: skip
    return Cells(tuple(datasets), scored, timed, ended, labels)


def _sizes(rows: pd.DataFrame, keys: list[str]) -> np.ndarray:
    """Return for each row how many rows its group has."""
    return rows.groupby(keys, sort=False)["fold"].transform("size").to_numpy()


def _pairs(rows: pd.DataFrame) -> set[tuple[str, str]]:
    return set(rows[_CELL].drop_duplicates().itertuples(index=False, name=None))


def _once(rows: pd.DataFrame) -> pd.DataFrame:
    """Keep a fold once: one that is ok, with times where some study has them; of one seed per data set."""
    rows = rows.assign(_bad=rows["status"].ne("ok"), _untimed=rows["fit_seconds"].isna())
    rows = rows.sort_values(["_bad", "_untimed"], kind="stable").drop_duplicates([*_CELL, *_FOLD, "seed"])
    # Another seed has other folds; the seed of most rows counts.
    seeds = rows.groupby("dataset")["seed"].agg(lambda each: each.mode().iloc[0])
    rows = rows[rows["seed"] == rows["dataset"].map(seeds)]
    return rows.drop(columns=["_bad", "_untimed"]).sort_index()


def _with_stand_ins(scored: pd.DataFrame, ended: Mapping[tuple[str, str], str]) -> pd.DataFrame:
    """Name stand-ins as skrebate's rankers where those were not run, and drop them elsewhere."""
    own_of = {stand_in: own for own, stand_in in STAND_INS.items()}
    present = _pairs(scored) | set(ended)
    used = {
        (dataset, own_of[ranker])
        for dataset, ranker in present
        if ranker in own_of and (dataset, own_of[ranker]) not in present and (dataset, ranker) not in ended
    }
    names = [own_of.get(each, each) for each in scored["ranker"]]
    stand_in = scored["ranker"].isin(list(own_of)).to_numpy(dtype=bool)
    cells = np.array([cell in used for cell in zip(scored["dataset"], names, strict=True)], dtype=bool)
    return scored.assign(ranker=names)[~stand_in | cells]
