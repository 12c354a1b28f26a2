"""The rows of all studies that were evaluated as the paper's, in one pool: what claims are checked on.

A study's rows are a part of what is known: times are in one, posteriors come from another, skrebate's own rankers
were run in a third. Here cells of several studies that bear the same names and were evaluated in the same way lie
side by side, each once, and only whole ones.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any

import numpy as np
import pandas as pd

from experiments.analysis import measurements
from experiments.analysis.paper.reported import ABOUT, EXTENTS, RANKINGS, about_of
from experiments.analysis.same_rankers import STAND_INS, SameRankers, same_rankers

#: Cells that ended without a number, as some of the paper's own did.
SETTLED = ("timeout", "out_of_memory")
_CELL = ["dataset", "ranker"]
_FOLD = ["repeat", "fold"]


@dataclass(frozen=True)
class Rankings:
    """Whole cells of one of the paper's studies, on its own data sets or on related ones.

    Attributes
    ----------
    about : str
        A key of ``RANKINGS``.
    datasets, rankers : tuple of str
        That may be there.
    scored : DataFrame
        Rows of data sets × rankers with every fold of every repeat, in the order of data sets and folds. Stand-ins
        bear the names of skrebate's rankers.
    timed : DataFrame
        Rows of whole repeats with times; of skrebate's rankers their own alone.
    ended : dict
        (data set, ranker) → "timeout" or "out_of_memory".
    stand_ins : frozenset of (data set, ranker)
        Where a stand-in counts.
    labels : dict of str to str
        Ranker → name to show.
    same : SameRankers
        Rankers that are one and the same on some of the data sets.
    """

    about: str
    datasets: tuple[str, ...]
    rankers: tuple[str, ...]
    scored: pd.DataFrame
    timed: pd.DataFrame
    ended: dict[tuple[str, str], str]
    stand_ins: frozenset[tuple[str, str]]
    labels: dict[str, str]
    same: SameRankers

    def there(self, *, times: bool = False) -> set[tuple[str, str]]:
        """Return the cells that are whole, or that ended without a number as some of the paper's did.

        Parameters
        ----------
        times : bool, default=False
            Whether times are asked for.

        Returns
        -------
        set of (data set, ranker)
        """
        return set(self._timed_there if times else self._scored_there)

    @cached_property
    def _scored_there(self) -> frozenset[tuple[str, str]]:
        return _cells_of(self.scored) | self.ended.keys()

    @cached_property
    def _timed_there(self) -> frozenset[tuple[str, str]]:
        return _cells_of(self.timed) | self.ended.keys()


def _cells_of(rows: pd.DataFrame) -> frozenset[tuple[str, str]]:
    return frozenset(rows[_CELL].drop_duplicates().itertuples(index=False, name=None))


@dataclass(frozen=True)
class Pool:
    """What claims are checked on.

    Attributes
    ----------
    paper, related : dict of str to Rankings
        By what they are about; on the paper's data sets, and on related ones.
    measured : dict of str to DataFrame
        Kind of measurement → :func:`experiments.analysis.measurements.points`, of all data sets.
    """

    paper: dict[str, Rankings] = field(default_factory=dict)
    related: dict[str, Rankings] = field(default_factory=dict)
    measured: dict[str, pd.DataFrame] = field(default_factory=dict)

    @property
    def about(self) -> set[str]:
        """What claims may be about to be checked here."""
        return {*self.paper, *self.measured}


def pool_of(
    studies: Sequence[tuple[pd.DataFrame, Sequence[Mapping[str, Any]]]],
    extents: Mapping[str, tuple[int, int]] = EXTENTS,
) -> Pool:
    """Put the rows of studies into one pool.

    Parameters
    ----------
    studies : sequence of (DataFrame, sequence of mapping)
        Rows of each study, under the names of its resolved configurations, which come with them.
    extents : mapping of str to (int, int), default=EXTENTS
        Folds and repeats of the paper's studies.

    Returns
    -------
    Pool
        For whatever the studies ask for; kinds of rankings and measurements that none asks for are left out.
    """
    asked: dict[str, list[tuple[pd.DataFrame, dict[str, str]]]] = {}
    for frame, configs in studies:
        for about, mine in _rankings_asked(configs, extents).items():
            asked.setdefault(about, []).append(_rows_of(frame, mine))
    paper, related = {}, {}
    for about, parts in asked.items():
        own, others, rankers = RANKINGS[about]
        paper[about] = _rankings(about, parts, own, rankers, extents[about])
        related[about] = _rankings(about, parts, others, rankers, (extents[about][0], None))
    return Pool(paper, related, _measured(studies))


def about_study(configs: Sequence[Mapping[str, Any]]) -> set[str]:
    """Say what claims a study is about.

    Parameters
    ----------
    configs : sequence of mapping
        Its resolved configurations.

    Returns
    -------
    set of str
        As :attr:`Pool.about`.
    """
    kinds = {kind for kind in _by(configs, _kind_of) if kind in measurements.KINDS}
    return {*_rankings_asked(configs, EXTENTS), *kinds}


def _rankings_asked(
    configs: Sequence[Mapping[str, Any]], extents: Mapping[str, tuple[int, int]]
) -> dict[str, list[Mapping[str, Any]]]:
    """Divide the cells with rankings by what they are about."""
    ranked = [each for each in configs if not each["protocol"].get("measure")]
    asked: dict[str, list[Mapping[str, Any]]] = {}
    for task, mine in _by(ranked, lambda each: each["dataset"]["task"]).items():
        found = _by(mine, lambda each: about_of(each, extents))
        if not any("[n_iterations=" in each["ranker_key"] for each in found.get("convergence", [])):
            found.pop("convergence", None)  # as many folds, but not about iterations
        # Rankings that were evaluated otherwise are of no use, but claims about them are asked for. Of numeric
        # targets the paper says nothing.
        asked |= found or {about: [] for about in ABOUT.get(task, ())[:1]}
    return asked


def _by(configs: Any, key: Callable[[Any], str | None]) -> dict[str, list[Mapping[str, Any]]]:
    found: dict[str, list[Mapping[str, Any]]] = {}
    for config in configs:
        if (name := key(config)) is not None:
            found.setdefault(name, []).append(config)
    return found


def _rows_of(
    frame: pd.DataFrame, configs: Sequence[Mapping[str, Any]]
) -> tuple[pd.DataFrame, dict[str, str]]:
    """Choose the rows of some of a study's cells, and name its rankers."""
    cells = {(each["dataset_key"], each["protocol"]["name"], each["ranker_key"]) for each in configs}
    rows = frame[frame["kind"] == "ranking"]
    names = zip(rows["dataset"], rows["protocol"], rows["ranker"], strict=True)
    labels = {
        each["ranker_key"]: str(each["ranker"].get("display_name") or each["ranker_key"]) for each in configs
    }
    return rows[np.array([name in cells for name in names], dtype=bool)], labels


def _rankings(
    about: str,
    parts: Sequence[tuple[pd.DataFrame, dict[str, str]]],
    datasets: Sequence[str],
    rankers: Sequence[str],
    extent: tuple[int, int | None],
) -> Rankings:
    wanted = [*rankers, *(stand_in for own, stand_in in STAND_INS.items() if own in rankers)]
    labels: dict[str, str] = {}
    chosen = []
    for rows, said in parts:
        labels = {**said, **labels}
        chosen.append(rows[rows["dataset"].isin(list(datasets)) & rows["ranker"].isin(wanted)])
    rows = _once(pd.concat(chosen, ignore_index=True))
    n_splits, n_repeats = extent
    ok = rows[(rows["status"] == "ok") & (rows["fold"] < n_splits)]
    ok = ok[_sizes(ok, [*_CELL, "repeat"]) == n_splits]
    ended = _ended(rows[rows["status"] != "ok"], ok)
    timed = _timed(ok[~ok["ranker"].isin(list(STAND_INS.values()))], n_splits)
    scored = _common_repeats(ok) if n_repeats is None else ok[ok["repeat"] < n_repeats]
    if n_repeats is not None:
        scored = scored[_sizes(scored, _CELL) == n_splits * n_repeats]
    scored, stand_ins = _with_stand_ins(scored, ended)
    order = {name: place for place, name in enumerate(datasets)}
    scored, timed = (
        each.assign(_place=each["dataset"].map(order))
        .sort_values(["_place", *_FOLD], kind="stable", ignore_index=True)
        .drop(columns="_place")
        for each in (scored, timed)
    )
    named = {own: labels.get(own, labels.get(STAND_INS.get(own, own), own)) for own in rankers}
    names = set(rows["ranker"])
    return Rankings(
        about=about,
        datasets=tuple(datasets),
        rankers=tuple(rankers)
        if about != "convergence"
        else tuple(each for each in rankers if each in names),
        scored=scored,
        timed=timed,
        ended=ended,
        stand_ins=stand_ins,
        labels=named,
        same=same_rankers(scored),
    )


def _sizes(rows: pd.DataFrame, keys: list[str]) -> np.ndarray:
    """Return for each row how many rows its group has."""
    return rows.groupby(keys, sort=False)["fold"].transform("size").to_numpy()


def _once(rows: pd.DataFrame) -> pd.DataFrame:
    """Keep a fold once: one that is ok, with times where some study has them; of one seed per data set."""
    bad = rows["status"].ne("ok")
    rows = rows.assign(_bad=bad, _untimed=rows["fit_seconds"].isna())
    rows = rows.sort_values(["_bad", "_untimed"], kind="stable").drop_duplicates([*_CELL, *_FOLD, "seed"])
    # Other seeds have other folds; those of most rows are compared.
    seeds = rows.groupby("dataset")["seed"].agg(lambda each: each.mode().iloc[0])
    rows = rows[rows["seed"] == rows["dataset"].map(seeds)]
    return rows.drop(columns=["_bad", "_untimed"]).sort_index()


def _ended(bad: pd.DataFrame, ok: pd.DataFrame) -> dict[tuple[str, str], str]:
    first = bad[bad["status"].isin(SETTLED)].drop_duplicates(_CELL)
    whole = set(ok[_CELL].drop_duplicates().itertuples(index=False, name=None))
    found = {(line.dataset, line.ranker): str(line.status) for line in first.itertuples()}
    return {cell: state for cell, state in found.items() if cell not in whole}


def _timed(ok: pd.DataFrame, n_splits: int) -> pd.DataFrame:
    timed = ok[ok["fit_seconds"].notna()]
    return timed[_sizes(timed, [*_CELL, "repeat"]) == n_splits]


def _common_repeats(ok: pd.DataFrame) -> pd.DataFrame:
    """Keep the repeats of a data set that all its rankers have: means over other folds would compare nothing."""
    n_rankers = ok.groupby("dataset")["ranker"].nunique()
    having = ok.groupby(["dataset", "repeat"])["ranker"].nunique()
    kept = {key for key, n in having.items() if n == n_rankers[key[0]]}
    inside = [key in kept for key in zip(ok["dataset"], ok["repeat"], strict=True)]
    return ok[np.array(inside, dtype=bool)]


def _with_stand_ins(
    scored: pd.DataFrame, ended: Mapping[tuple[str, str], str]
) -> tuple[pd.DataFrame, frozenset[tuple[str, str]]]:
    """Put stand-ins under the names of skrebate's rankers where those were not run, and drop them elsewhere."""
    own_of = {stand_in: own for own, stand_in in STAND_INS.items()}
    there = set(scored[_CELL].drop_duplicates().itertuples(index=False, name=None)) | set(ended)
    used = frozenset(
        (dataset, own_of[ranker])
        for dataset, ranker in there
        if ranker in own_of and (dataset, own_of[ranker]) not in there and (dataset, ranker) not in ended
    )
    names = [own_of.get(each, each) for each in scored["ranker"]]
    stand_in = scored["ranker"].isin(list(own_of)).to_numpy(dtype=bool)
    cells = np.array([cell in used for cell in zip(scored["dataset"], names, strict=True)], dtype=bool)
    return scored.assign(ranker=names)[~stand_in | cells], used


def _measured(studies: Any) -> dict[str, pd.DataFrame]:
    measured: dict[str, list[pd.DataFrame]] = {}
    for frame, configs in studies:
        for kind, mine in _by(configs, _kind_of).items():
            cells = {(each["dataset_key"], each["protocol"]["name"], each["ranker_key"]) for each in mine}
            rows = frame[frame["kind"] == kind]
            names = zip(rows["dataset"], rows["protocol"], rows["ranker"], strict=True)
            measured.setdefault(kind, []).append(
                rows[np.array([name in cells for name in names], dtype=bool)]
            )
    return {
        kind: measurements.points(pd.concat(parts, ignore_index=True).drop_duplicates([*_CELL, *_FOLD]), kind)
        for kind, parts in measured.items()
        if kind in measurements.KINDS
    }


def _kind_of(config: Mapping[str, Any]) -> str | None:
    measure = config["protocol"].get("measure")
    if not measure or config["protocol"].get("max_rows") is not None:
        return None
    return measure["_target_"].rpartition(".")[2]
