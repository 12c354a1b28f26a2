"""What the parts of a page lean on: names, places within data sets, verdicts, cost, reasons."""

from __future__ import annotations

import math

import pandas as pd

from experiments.analysis.comparison import NOT_ASKED, Comparison
from experiments.analysis.cost import cost_quality, places
from experiments.analysis.verdict import Verdict, verdict
from experiments.programs import program
from experiments.report.page.table import Cell, text

#: Measures that cost is set beside.
_QUALITY = ("best_f1", "mean_f1", "aurf1")


class Facts:
    """A comparison, and what the page makes of it."""

    def __init__(self, comparison: Comparison, frame: pd.DataFrame, own: str, *, named: bool = True):
        self.c, self.group, self.frame, self.own = comparison, comparison.group, frame, own
        self.label: dict[str, str] = dict(self.group.labels)
        self.rankers = list(self.label)
        self.datasets = list(self.group.expected["dataset"].unique())
        self.summary = comparison.summary
        self.incomplete = comparison.missing
        self.here = list(self.summary.loc[self.summary["complete"], "dataset"].unique())
        self.pairs = None if comparison.posterior is None else comparison.posterior.table
        self.untested = comparison.untested
        if self.untested == NOT_ASKED and not named:
            self.untested = (
                f"the report of a study with a name tests them ({program('report')} study=NAME), "
                "and this one has none"
            )
        self.places = {
            key: places(comparison.scores[key], higher_is_better=measure.higher_is_better)
            for key, measure in comparison.measures.items()
        }
        self.verdicts = {key: self._verdict(key) for key in comparison.measures}
        quality = {key: comparison.scores[key] for key in _QUALITY}
        self.cost = cost_quality(comparison.scores["fit_seconds"], quality)

    def _verdict(self, key: str) -> Verdict:
        ranks = self.c.ranks[key]
        if ranks is None:
            return Verdict()
        return verdict(
            ranks.average_ranks,
            n_datasets=len(ranks.used),
            critical_distance=ranks.cd,
            pairs=self.pairs if key == "best_f1" else None,
            same=self.c.same.everywhere,
        )

    def rank_of(self, key: str, ranker: str) -> float:
        """Return a ranker's average rank; NaN for none."""
        ranks = self.c.ranks[key]
        return math.nan if ranks is None else float(ranks.average_ranks.get(ranker, math.nan))

    def score(self, key: str, dataset: str, ranker: str) -> float:
        """Return a ranker's score on a data set; NaN for none."""
        return _at(self.c.scores[key], dataset, ranker)

    def place(self, key: str, dataset: str, ranker: str) -> float:
        """Return a ranker's place on a data set; NaN for none."""
        return _at(self.places[key], dataset, ranker)

    def reason(self, dataset: str, ranker: str) -> str:
        """Say why a ranker has no score on a data set."""
        here = self.incomplete
        found = here.loc[(here["dataset"] == dataset) & (here["ranker"] == ranker), "reason"]
        return str(found.iloc[0]) if len(found) else "no value"

    def page_id(self, ranker: str) -> str:
        """Return the id of a ranker's own page."""
        return f"{self.own}-ranker-{self.rankers.index(ranker)}"

    def cell(self, ranker: str) -> Cell:
        """Make the cell of a ranker's name, which leads to its page."""
        return text(self.label[ranker], href=f"#{self.page_id(ranker)}", kind="name")


def _at(table: pd.DataFrame, dataset: str, ranker: str) -> float:
    if dataset not in table.index or ranker not in table.columns:
        return math.nan
    return float(table.at[dataset, ranker])
