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
from dataclasses import dataclass
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
        Cells in it whose ranker has no finished cell on the data set: a model of their size is all that is known.
    """

    seconds: float
    n_modelled: int

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
        seconds = self.seconds / max(1, min(n_workers, n_cells))
        text = f"about {duration(seconds)} with {count(n_workers, 'worker')}"
        if self.n_modelled:
            text += f" ({count(self.n_modelled, 'cell')} by the size of the data alone)"
        return text


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
        return estimate(
            missing,
            [row for row in rows if row["status"] == "ok"],
            study.cells,
            study.sizes,
            shared=bool(launcher.get("score_cache", True)),
        )
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
    ratios = [math.log(spent[kin] / modelled[kin]) for kin in spent if spent[kin] > 0]
    # Few rankers on few data sets say little of others; they say how fast the machine is.
    scale = math.exp(float(np.median(ratios))) if ratios else 1.0
    seconds, n_modelled = 0.0, 0
    for kin, several in groups.items():
        n_folds = sum(cell.n_splits for cell in several)
        if kin in spent:
            seconds += n_folds * spent[kin]
        else:
            near = [
                math.log(spent[each] / modelled[each])
                for each in spent
                if each[0] == kin[0] and spent[each] > 0
            ]
            seconds += n_folds * modelled[kin] * (math.exp(float(np.mean(near))) if near else scale)
            n_modelled += len(several)
    return Estimate(seconds, n_modelled)


def _kin(cell: Cell) -> tuple:
    return cell.checksum, cell.protocol, cell.ranker


def _modelled(first: Mapping[tuple, Cell], sizes: Mapping[str, Size], shared: bool) -> dict[tuple, float]:
    """Return the seconds of a fold by the model; the first ranker pays for what others look up."""
    there: dict[tuple, set[str]] = {}
    seconds = {}
    for kin, cell in first.items():
        model = fold_seconds(cell.ranking, cell.learner, sizes[cell.checksum], cell.grid_points)
        is_first = kin[:2] not in there
        computed = there.setdefault(kin[:2], set())
        embedding = sum(took for name, took in model.embeddings.items() if name not in computed)
        computed.update(model.embeddings)
        learning = model.learning * (1.0 if is_first or not shared else _SHARE_LEFT)
        seconds[kin] = model.ranking + embedding + learning
    return seconds


def _spent(known: Iterable[Mapping[str, Any]], cells: Mapping[str, Cell], shared: bool) -> dict[tuple, float]:
    """Return the mean seconds of a fold, of those that were looked at, without what was looked up."""
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
    found: dict[tuple, list[float]] = defaultdict(list)
    for row in rows:
        cell = cells[row["cell_key"]]
        of_fold = (*_kin(cell)[:2], row["repeat"], row["fold"])
        seconds = row["fit_seconds"] - _again(row["phase_seconds"], phases[of_fold])
        if row["learner_seconds"] is not None:
            left = _share_left(row, cell, names[of_fold]) if shared else 1.0
            seconds += left * row["learner_seconds"]
        found[_kin(cell)].append(max(seconds, 0.0))
    return {kin: float(np.mean(each)) for kin, each in found.items()}


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
