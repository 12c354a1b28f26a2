"""Everything that a group of a study says, as frames: what figures draw and the page shows."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property

import pandas as pd

from experiments.analysis.best_features import best_features
from experiments.analysis.critical_distance import RankComparison, compare_ranks
from experiments.analysis.curves import convergence, rf1_curve
from experiments.analysis.groups import Group, missing_in_words, missing_of
from experiments.analysis.pairs import Posteriors
from experiments.analysis.same_rankers import SameRankers, same_in_words, same_rankers
from experiments.analysis.scores import MEASURES, Measure, averages, comparable, measures_of, score_table
from experiments.analysis.selection import Selection, failures, select
from experiments.analysis.similarity import pairwise_fuji, similarity_matrix
from experiments.analysis.stability import stability
from experiments.analysis.summary import summary

#: Why pairs that could be tested were not.
NOT_ASKED = "the test was not asked for"


@dataclass(frozen=True)
class Comparison:
    """Frames of one group.

    Attributes
    ----------
    group : Group
        What was asked for.
    summary : DataFrame
        From :func:`experiments.analysis.summary.summary`.
    failures : DataFrame
        From :func:`experiments.analysis.selection.failures`.
    missing : DataFrame
        From :func:`experiments.analysis.groups.missing_of`.
    scores : dict of str to DataFrame
        Measure → data sets × rankers, NaN where a ranker is not complete.
    ranks : dict of str to RankComparison or None
        Measure → average ranks (:mod:`experiments.analysis.critical_distance`); None when there is no diagram.
    rank_reasons : dict of str to str
        Measure → why there is no diagram, for those without.
    rank_left_out : dict of str to list of str
        Measure → rankers that are not in the diagram.
    averages : dict of str to DataFrame
        Measure → one line per ranker (:func:`experiments.analysis.scores.averages`).
    selection : Selection
        The rows: the frames that take longest are made of them when they are first asked for.
    posterior : Posteriors or None
        None when it was not asked for, or nothing can be tested.
    same : SameRankers
        Rankers whose F1 curves are equal in every fold.
    feature_names : mapping of str to sequence of str
        Data set → names of its features, where they are known.
    """

    group: Group
    summary: pd.DataFrame
    failures: pd.DataFrame
    missing: pd.DataFrame
    scores: dict[str, pd.DataFrame]
    ranks: dict[str, RankComparison | None]
    rank_reasons: dict[str, str]
    rank_left_out: dict[str, list[str]]
    averages: dict[str, pd.DataFrame]
    selection: Selection
    posterior: Posteriors | None = None
    same: SameRankers = field(default_factory=SameRankers)
    feature_names: Mapping[str, Sequence[str]] = field(default_factory=dict)

    @cached_property
    def curves(self) -> pd.DataFrame:
        """From :func:`experiments.analysis.curves.rf1_curve`."""
        return rf1_curve(self.selection)

    @cached_property
    def convergence(self) -> pd.DataFrame:
        """From :func:`experiments.analysis.curves.convergence`."""
        return convergence(self.selection, self.group)

    @cached_property
    def similarity(self) -> dict[str, pd.DataFrame]:
        """Return, for "curves" and "weights", mean AUFUJI of every two rankers, in the order of the clustering."""
        columns = {"curves": "rf1_micro", "weights": "weights"}
        return {
            kind: similarity_matrix(pairwise_fuji(self.selection, on=column))
            for kind, column in columns.items()
        }

    @cached_property
    def stability(self) -> pd.DataFrame:
        """From :func:`experiments.analysis.stability.stability`."""
        return stability(self.selection)

    @cached_property
    def best_features(self) -> pd.DataFrame:
        """From :func:`experiments.analysis.best_features.best_features`."""
        return best_features(self.selection, names=self.feature_names)

    @property
    def measures(self) -> dict[str, Measure]:
        """What rankers are compared by, under the names of this kind of target."""
        return measures_of(self.group.task)

    @property
    def rankers(self) -> list[str]:
        """All rankers asked for, in the study's order."""
        return list(self.group.labels)

    @property
    def labels(self) -> dict[str, str]:
        """Ranker → name to show."""
        return self.group.labels

    @property
    def untested(self) -> str:
        """Why no pairs of rankers were tested, in words; "" where they were."""
        return "" if self.posterior is not None else _why_untested(self.group, self.scores["best_f1"])

    @property
    def missing_lines(self) -> list[str]:
        """What is missing, in words."""
        return missing_in_words(self.missing, self.group)

    @property
    def same_lines(self) -> list[str]:
        """Which rankers are the same, in words: on all data sets, then on single ones what is not yet told."""
        families = self.group.families.set_index("ranker")
        named = {"panels": families["panel"].to_dict(), "variants": families["variant"].to_dict()}
        lines = {"on all data sets": self.same.everywhere} | {
            f"on {dataset}": [each for each in groups if each not in self.same.everywhere]
            for dataset, groups in self.same.on.items()
        }
        return [
            f"The same ranker {where} (equal {self.group.kind.score} in every fold): "
            f"{same_in_words(groups, self.labels, **named)}."
            for where, groups in lines.items()
            if groups
        ]

    def nothing(self, measure: str) -> str:
        """Say why no ranker has a number of a measure; "" where one has."""
        return no_number(self.scores[measure], self.measures[measure])


def compare(
    frame: pd.DataFrame | Selection,
    group: Group,
    *,
    posterior: Posteriors | None = None,
    feature_names: Mapping[str, Sequence[str]] | None = None,
) -> Comparison:
    """Make the frames of a group."""
    selection = select(frame, group.expected)
    rows = selection.complete
    summed = summary(selection)
    scores = {measure: score_table(rows, measure) for measure in MEASURES}
    ranks: dict[str, RankComparison | None] = {}
    reasons, left_out = {}, {}
    for measure, table in scores.items():
        ranks[measure], reasons[measure], left_out[measure] = _ranks(table, measures_of(group.task)[measure])
    return Comparison(
        group=group,
        summary=summed,
        failures=failures(selection),
        missing=missing_of(summed, group, selection.rows),
        scores=scores,
        ranks=ranks,
        rank_reasons={measure: why for measure, why in reasons.items() if why},
        rank_left_out=left_out,
        averages={
            measure: averages(table, higher_is_better=MEASURES[measure].higher_is_better)
            for measure, table in scores.items()
        },
        selection=selection,
        posterior=posterior,
        same=same_rankers(rows),
        feature_names=feature_names or {},
    )


def no_number(table: pd.DataFrame, measure: Measure) -> str:
    """Say why a table has no number at all.

    "" where there is a number.
    """
    if not table.size:
        return "no ranker is complete on any data set"
    if table.notna().any(axis=None):
        return ""
    n = table.shape[1]
    there = (
        "1 ranker is complete, but its rows hold"
        if n == 1
        else f"{n} rankers are complete, but their rows hold"
    )
    if measure.key == "fit_seconds":
        return f"{there} no times (published rows have those of runs on an idle machine alone)"
    return f"{there} no {measure.title}"


def _why_untested(group: Group, scores: pd.DataFrame) -> str:
    if group.varies_iterations:
        return "the rankers differ by their iterations alone"
    there = scores.notna()
    done = [str(ranker) for ranker in scores.columns[there.any(axis=0)]]
    if not done:
        return "no ranker is complete on any data set"
    if len(done) == 1:
        return f"{group.labels[done[0]]} alone is complete, and a pair needs two"
    if group.expected["dataset"].nunique() == 1:
        return "there is one data set, and the test, which is over data sets, needs two"
    if int(there.any(axis=1).sum()) == 1:
        only = scores.index[there.any(axis=1)][0]
        return f"rankers are complete on {only} alone, and the test needs two data sets"
    shared = there.astype(int).T @ there.astype(int)
    most = max(shared.iat[i, j] for i in range(len(shared)) for j in range(i))
    if most < 2:
        return "no two rankers are complete on the same two data sets, which the test needs"
    return NOT_ASKED


def _ranks(table: pd.DataFrame, measure: Measure) -> tuple[RankComparison | None, str, list[str]]:
    kept, left_out = comparable(table)
    why = no_number(table, measure)
    if why and table.size:
        return None, why, left_out
    if kept.shape[1] < 2:
        n = int(table.notna().any(axis=0).sum())
        why = f"ranks need two complete rankers on one data set; there {'is' if n == 1 else 'are'} {n}"
        return None, why, left_out
    return compare_ranks(kept, higher_is_better=measure.higher_is_better), "", left_out
