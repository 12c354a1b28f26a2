"""How long the cells that are missing will take, before any of them has run.

What is known of a ranker on a data set comes from rows; of what has no rows, from a model by the size of the data
(:mod:`experiments.metrics.duration`), which is scaled by what is known of this machine. Rows say what fits took
when they were done; what was looked up instead (scores of the learner, embeddings) takes no time, and is found out
from the rows themselves: it is what another ranker before had in the same fold.
"""

from __future__ import annotations

import json
import logging
import math
from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np

from experiments.evaluation.cell import Cell
from experiments.evaluation.score_cache import names_of
from experiments.execution.study import Study
from experiments.formatting import count, duration
from experiments.locate import locate
from experiments.metrics.duration import Size, fold_seconds
from experiments.store.store import Store
from reliefe.ranking import descending_order

_logger = logging.getLogger(__name__)

#: Columns of rows that say what was spent.
_READ = (
    "cell_key",
    "status",
    "repeat",
    "fold",
    "fit_seconds",
    "learner_seconds",
    "phase_seconds",
    "weights",
    "grid",
)
#: Folds of a cell that are looked at.
_FOLDS = 2
#: Phases of a fit that are shorter may be equal by chance, seconds.
_LEAST_PHASE = 0.005
#: What a worker spends before its first fits, seconds: kernels of this project loaded or, where none are on disk,
#: compiled for one class of rankers and for each further one; kernels for forests of labels compiled; UMAP
#: loaded, or compiled.
_LOADED, _COMPILED, _COMPILED_MORE, _COMPILED_LEARNER = 1.3, 17.0, 8.0, 18.0
_UMAP_LOADED, _UMAP_COMPILED = 1.8, 10.4
#: The share of the learner's fits that are left for a ranker after the first, where it is not known.
_SHARE_LEFT = 0.5


@dataclass(frozen=True)
class Estimate:
    """What the missing cells of a study need.

    Attributes
    ----------
    seconds : float
        Of one worker.
    n_modelled : int
        Cells in it on data sets of which no cell is finished: a model of their size is all that is known.
    n_related : int
        Cells in it whose ranker has no finished cell on the data set, but others have.
    warm_up : float
        Of a fit of each ranker on each data set, untimed, in a process that has done none; shared by workers.
    once : float
        What every worker spends before its first fit: kernels are loaded, or compiled.
    of_cells : dict
        (checksum of the data set, ranker) → seconds of one cell.
    """

    seconds: float
    n_modelled: int
    n_related: int = 0
    warm_up: float = field(default=0.0, compare=False)
    once: float = field(default=0.0, compare=False)
    of_cells: dict[tuple[str, str], float] = field(default_factory=dict, compare=False, repr=False)

    def elapsed(self, n_workers: int, n_cells: int) -> float:
        """Return the seconds until the last cell has ended.

        Parameters
        ----------
        n_workers, n_cells : int
            Workers, and cells that they share.

        Returns
        -------
        float
        """
        return (self.seconds + self.warm_up) / max(1, min(n_workers, n_cells)) + self.once

    def words(self, n_workers: int, n_cells: int) -> str:
        """Say it.

        Parameters
        ----------
        n_workers, n_cells : int
            Workers, and cells that they share.

        Returns
        -------
        str
        """
        text = f"about {duration(self.elapsed(n_workers, n_cells))} with {count(n_workers, 'worker')}"
        by = {
            "by other rankers on the same data": self.n_related,
            "by the size of the data alone": self.n_modelled,
        }
        said = [f"{count(number, 'cell')} {how}" for how, number in by.items() if number]
        return f"{text} ({', '.join(said)})" if said else text


def estimate_study(
    study: Study, store: Store, missing: Sequence[Cell], launcher: Mapping[str, Any]
) -> Estimate | None:
    """Estimate what the missing cells of a study take, from one cell for each ranker that has one.

    Parameters
    ----------
    study : Study
        Its cells and data.
    store : Store
        Its rows.
    missing : sequence of Cell
        Those to run.
    launcher : mapping
        The block of the launcher.

    Returns
    -------
    Estimate or None
        None when it fails, for which no study is held up.
    """
    there = {cell.key for cell in missing}
    looked_at: dict[tuple, Cell] = {}
    for key, cell in study.cells.items():
        if key not in there:
            looked_at.setdefault(_kin(cell), cell)
    try:
        rows = store.read_tables([cell.key for cell in looked_at.values()], _READ).to_pylist()
        found = estimate(
            missing,
            [row for row in rows if row["status"] == "ok"],
            study.cells,
            study.sizes,
            shared=bool(launcher.get("score_cache", True)),
        )
        return replace(found, once=seconds_before_fits(missing, compiled=not compiles(missing)))
    except (ArithmeticError, LookupError, TypeError, ValueError) as error:
        _logger.debug("no estimate of the time: %s", error)
        return None


def estimate(
    missing: Iterable[Cell],
    known: Iterable[Mapping[str, Any]],
    cells: Mapping[str, Cell],
    sizes: Mapping[str, Size],
    *,
    shared: bool = True,
) -> Estimate:
    """Estimate what missing cells take.

    Parameters
    ----------
    missing : iterable of Cell
        What is to run.
    known : iterable of mapping
        Rows that are "ok", of cells that are done.
    cells : mapping
        Key → cell, of the whole study and in its order.
    sizes : mapping
        Checksum of a data set → its size.
    shared : bool, default=True
        Whether scores of the learner are looked up.

    Returns
    -------
    Estimate
    """
    groups: dict[tuple, list[Cell]] = defaultdict(list)
    for cell in missing:
        groups[_kin(cell)].append(cell)
    if not groups:
        return Estimate(0.0, 0)
    first: dict[tuple, Cell] = {}
    for cell in cells.values():
        first.setdefault(_kin(cell), cell)
    spent = _spent(known, cells, shared)
    modelled = _modelled(first, sizes, shared)
    ratios = [math.log(spent[kin].seconds / modelled[kin].seconds) for kin in spent if spent[kin].seconds > 0]
    # Few rankers on few data sets say little of others; they say how fast the machine is.
    scale = math.exp(float(np.median(ratios))) if ratios else 1.0
    seconds, warm_up, n_modelled, n_related = 0.0, 0.0, 0, 0
    of_cells: dict[tuple[str, str], float] = {}
    for kin, several in groups.items():
        near = [each for each in spent if each[0] == kin[0]]
        if kin in spent:
            of_fold = spent[kin]
        elif near:
            of_fold = _by_others(kin, near, first, spent, modelled, shared)
            n_related += len(several)
        else:
            model = modelled[kin]
            of_fold = _Seconds(scale * model.ranking, scale * model.learning, model.left)
            n_modelled += len(several)
        seconds += sum(cell.n_splits for cell in several) * of_fold.seconds
        warm_up += of_fold.ranking
        cell = several[0]
        of_cells[cell.checksum, cell.ranker] = cell.n_splits * of_fold.seconds
    return Estimate(seconds, n_modelled, n_related, warm_up, of_cells=of_cells)


@dataclass(frozen=True)
class _Seconds:
    """What a fold takes: the ranking, all fits of the learner, and the share of these that is not looked up."""

    ranking: float
    learning: float
    left: float

    @property
    def seconds(self) -> float:
        return self.ranking + self.left * self.learning


def _by_others(
    kin: tuple,
    near: Sequence[tuple],
    first: Mapping[tuple, Cell],
    spent: Mapping[tuple, _Seconds],
    modelled: Mapping[tuple, _Seconds],
    shared: bool,
) -> _Seconds:
    """Estimate a ranker on a data set by the other rankers that have rows on it.

    The learner takes what it took for them, whatever the ranking. The ranking is that of the model, times what
    rankers of the same class, else all of them, took of theirs.
    """
    model = modelled[kin]
    target = first[kin].ranker_block.get("_target_")
    alike = [each for each in near if first[each].ranker_block.get("_target_") == target] or near
    ranking = model.ranking * _usual_ratio((spent[each].ranking, modelled[each].ranking) for each in alike)
    learning = model.learning * _usual_ratio((spent[each].learning, modelled[each].learning) for each in near)
    # The first ranker in the same folds computed all scores.
    later = [spent[each].left for each in near if each[1] == kin[1]][1:]
    left = model.left if not shared or not later else float(np.mean(later))
    return _Seconds(ranking, learning, left)


def _usual_ratio(pairs: Iterable[tuple[float, float]]) -> float:
    logs = [math.log(took / model) for took, model in pairs if took > 0 and model > 0]
    # Some rows are of a busy moment, and some hold an embedding that all others looked up.
    return math.exp(float(np.median(logs))) if logs else 1.0


@dataclass(frozen=True)
class _Compiled:
    """What of some cells runs compiled code."""

    rankers: frozenset[str]
    forests: bool

    @classmethod
    def of(cls, missing: Iterable[Cell]) -> _Compiled:
        cells = list(missing)
        targets = {str(cell.ranker_block.get("_target_", "")) for cell in cells}
        return cls(
            frozenset(each for each in targets if each.partition(".")[0] in ("reliefe", "fast_select")),
            any(
                cell.task == "multilabel" and "Forest" in str(cell.learner.get("_target_")) for cell in cells
            ),
        )

    def __bool__(self) -> bool:
        return bool(self.rankers) or self.forests


def compiles(missing: Iterable[Cell]) -> bool:
    """Whether the first fits will compile kernels.

    Parameters
    ----------
    missing : iterable of Cell
        What is to run.

    Returns
    -------
    bool
    """
    return bool(_Compiled.of(missing)) and not any_kept()


def any_kept() -> bool:
    """Ask the library whether compiled kernels are on disk; numba and all kernels are imported for that.

    Returns
    -------
    bool
    """
    from reliefe import _compiled

    return _compiled.any_kept()


def seconds_before_fits(missing: Iterable[Cell], *, compiled: bool) -> float:
    """Estimate what a worker spends before its first fits, on loading and compiling.

    Parameters
    ----------
    missing : iterable of Cell
        What is to run.
    compiled : bool
        Whether compiled kernels are on disk.

    Returns
    -------
    float
        Seconds, as measured on a core without other work; workers compile at the same time.
    """
    of = _Compiled.of(missing)
    umap = any("ReliefE" in each for each in of.rankers)
    seconds = (_UMAP_LOADED if compiled else _UMAP_COMPILED) if umap else 0.0
    if of.rankers:
        seconds += _LOADED if compiled else _COMPILED + _COMPILED_MORE * (len(of.rankers) - 1)
    if of.forests and not compiled:
        seconds += _COMPILED_LEARNER
    return seconds


def _kin(cell: Cell) -> tuple:
    return cell.checksum, cell.protocol, cell.ranker


def _modelled(first: Mapping[tuple, Cell], sizes: Mapping[str, Size], shared: bool) -> dict[tuple, _Seconds]:
    """Return the seconds of a fold by the model; the first ranker pays for what others look up."""
    there: dict[tuple, set[str]] = {}
    seconds = {}
    for kin, cell in first.items():
        model = fold_seconds(cell.ranker_block, cell.learner, sizes[cell.checksum], cell.grid_points)
        is_first = kin[:2] not in there
        computed = there.setdefault(kin[:2], set())
        embedding = sum(took for name, took in model.embeddings.items() if name not in computed)
        computed.update(model.embeddings)
        left = 1.0 if is_first or not shared else _SHARE_LEFT
        seconds[kin] = _Seconds(model.ranking + embedding, model.learning, left)
    return seconds


def _spent(
    known: Iterable[Mapping[str, Any]], cells: Mapping[str, Cell], shared: bool
) -> dict[tuple, _Seconds]:
    """Return the mean seconds of a fold, of those that were looked at; what was looked up is not counted."""
    order = {key: place for place, key in enumerate(cells)}
    rows = sorted(
        (
            row
            for row in known
            if row["fold"] < _FOLDS and row["cell_key"] in order and row["fit_seconds"] is not None
        ),
        key=lambda row: order[row["cell_key"]],
    )
    names: dict[tuple, set[bytes]] = defaultdict(set)
    phases: dict[tuple, set[float]] = defaultdict(set)
    found: dict[tuple, list[tuple[float, float, float]]] = defaultdict(list)
    for row in rows:
        cell = cells[row["cell_key"]]
        of_fold = (*_kin(cell)[:2], row["repeat"], row["fold"])
        ranking = max(row["fit_seconds"] - _again(row["phase_seconds"], phases[of_fold]), 0.0)
        learning, left = row["learner_seconds"] or 0.0, 1.0
        if row["learner_seconds"] is not None and shared:
            left = _share_left(row, cell, names[of_fold])
        found[_kin(cell)].append((ranking, learning, left * learning))
    spent = {}
    for kin, each in found.items():
        ranking, learning, computed = np.mean(each, axis=0).tolist()
        spent[kin] = _Seconds(ranking, learning, computed / learning if learning else 0.0)
    return spent


def _again(text: str | None, seen: set[float]) -> float:
    """Return the seconds of phases that another ranker had to the last bit: it has computed them for both."""
    each = {name: took for name, took in json.loads(text or "{}").items() if name != "total"}
    again = sum(took for took in each.values() if took in seen)
    seen.update(took for took in each.values() if took > _LEAST_PHASE)
    return again


def _share_left(row: Mapping[str, Any], cell: Cell, seen: set[bytes]) -> float:
    """Return the share of the learner's fits that no ranker before had."""
    if not row["weights"] or len(row["grid"]) < 2:
        return 1.0 if not seen else _SHARE_LEFT
    nested = hasattr(locate(cell.learner["_target_"]), "path")
    named = names_of(descending_order(np.array(row["weights"])), row["grid"][:-1], nested=nested)
    # The fits on many features take longest.
    costs = np.sqrt(np.array(row["grid"][:-1], dtype=float))
    new = np.array([name not in seen for name in named])
    if nested:
        new[:] = new.any()
    seen.update(named)
    return float(costs[new].sum() / costs.sum())
