"""What the paper claims in numbers, as checks on rows.

Each claim is stated with its place in the paper, with how it is read here and why, since few of the paper's
sentences say which number they mean. It gets three verdicts: on the paper's data sets, on those of them that are at
hand, and on related data sets. Of the first, the form of the claim decides what is enough: "there is" is decided by
one instance, "for all" by one counterexample, an average needs everything that the paper's own study had. A cell
that was stopped by its limit of time or memory counts as there (some of the paper's did not finish either), one
that was not run or failed does not.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace

import pandas as pd

from experiments.analysis.pairs import Posteriors
from experiments.analysis.paper import mcc, mcc_datasets, mcc_posteriors, mlc, side
from experiments.analysis.paper.claim import (
    ALL,
    AVERAGE,
    EXISTS,
    HOLDS,
    HOLDS_NOT,
    MOST,
    NO_ROWS,
    NOISE,
    NOT_ASKED,
    UNDECIDED,
    Claim,
    Finding,
    NotThereError,
    decided,
)
from experiments.analysis.paper.evidence import Evidence, Folds, within_noise
from experiments.analysis.paper.pool import Pool, Rankings, about_study, pool_of
from experiments.analysis.paper.reported import (
    MCC_DATASETS,
    MCC_RANKERS,
    MCC_RELATED,
    MLC_DATASETS,
    MLC_RANKERS,
    RELIEFE,
    RELIEFF,
    SURF,
)
from experiments.analysis.same_rankers import same_in_words

__all__ = [
    "ALL",
    "AVERAGE",
    "EXISTS",
    "HOLDS",
    "HOLDS_NOT",
    "MCC_DATASETS",
    "MCC_RANKERS",
    "MLC_DATASETS",
    "MLC_RANKERS",
    "MOST",
    "NOISE",
    "NOT_ASKED",
    "NO_ROWS",
    "RELIEFE",
    "RELIEFF",
    "SURF",
    "UNDECIDED",
    "Claim",
    "Finding",
    "NotThereError",
    "Pool",
    "Rankings",
    "about_study",
    "all_claims",
    "check",
    "pool_of",
]

#: Averages over fewer data sets say nothing of data sets.
_FEWEST = 2
_MOST_TOLD = 12
#: More groups of rankers that are the same are counted.
_MOST_SAME = 2

COLUMNS = [
    *("about", "claim", "form", "place", "statement", "reading", "reason"),
    *("verdict", "at_hand", "noise", "related", "noise_related", "evidence", "evidence_related", "missing"),
]


def all_claims() -> list[Claim]:
    """Return every claim, kind by kind, each kind in the order of the paper.

    Returns
    -------
    list of Claim
    """
    return [
        *mcc.CLAIMS, *mcc_posteriors.CLAIMS, *mcc_datasets.CLAIMS, *mlc.CLAIMS,
        *side.CLAIMS,
    ]  # fmt: skip


@dataclass(frozen=True)
class _Scope:
    """Rows on which claims are checked, and what was made of them."""

    rankings: Mapping[str, Rankings]
    posteriors: Mapping[str, Posteriors | None]
    measured: Mapping[str, pd.DataFrame]
    folds: dict[tuple[str, int], Folds] = field(default_factory=dict)

    def folds_of(self, about: str, n_draws: int) -> Folds:
        if (about, n_draws) not in self.folds:
            self.folds[about, n_draws] = Folds(self.rankings[about], n_draws)
        return self.folds[about, n_draws]


@dataclass(frozen=True)
class _Looked:
    """What a claim's check says on a scope."""

    verdict: str = NO_ROWS
    finding: Finding | None = None
    noise: str = ""
    told: str = ""
    why_not: str = ""


def check(
    pool: Pool,
    posteriors: Mapping[str, Posteriors | None] | None = None,
    related_posteriors: Mapping[str, Posteriors | None] | None = None,
    claims: Sequence[Claim] | None = None,
    *,
    n_draws: int | None = None,
) -> pd.DataFrame:
    """Check the claims that the rows of a pool are about.

    Parameters
    ----------
    pool : Pool
        From :func:`experiments.analysis.paper.pool.pool_of`.
    posteriors, related_posteriors : mapping of str to Posteriors, optional
        What they are about → posteriors of pairs, on the paper's data sets at hand and on related ones.
    claims : sequence of Claim, optional
        All by default.
    n_draws : int, optional
        How many draws of the folds are looked at at most; by default as many as each claim asks for.

    Returns
    -------
    DataFrame
        One line per claim: ``about``, ``claim``, ``form``, ``place``, ``statement``, ``reading``, ``reason``;
        ``verdict`` on the paper's data sets ("holds", "does not hold" or "cannot be decided"), ``at_hand`` on those
        of them that are here, ``noise`` ("within the noise of the folds", or ""); ``related`` on related data sets
        (the same, "no rows", or "–" for claims about single data sets), ``noise_related``; ``evidence`` and
        ``evidence_related`` (numbers in words), ``missing`` (cells, in words; "" when there is a verdict). Claims
        about rows of which the pool knows nothing are left out.
    """
    own = _Scope(pool.paper, posteriors or {}, pool.measured)
    others = _Scope(pool.related, related_posteriors or {}, pool.measured)
    lines = []
    for claim in all_claims() if claims is None else claims:
        if claim.about not in pool.about:
            continue
        missing, n_missing = _missing(claim, own)
        here = _look(claim, own, claim.datasets, n_draws)
        there = (
            _look(claim, others, _related(claim, others), n_draws) if claim.general else _Looked(NOT_ASKED)
        )
        verdict = UNDECIDED if here.finding is None else decided(claim.form, here.finding, n_missing)
        if verdict != UNDECIDED:
            missing = ""
        elif not missing:
            missing = f"needed: {here.why_not}"
        said = (claim.about, claim.key, claim.form, claim.place, claim.statement, claim.reading, claim.reason)
        verdicts = (verdict, here.verdict, here.noise, there.verdict, there.noise)
        lines.append([*said, *verdicts, here.told, there.told, missing])
    return pd.DataFrame(lines, columns=COLUMNS)


def _related(claim: Claim, scope: _Scope) -> tuple[str, ...]:
    if claim.about in scope.rankings:
        return scope.rankings[claim.about].datasets
    measured = scope.measured.get(claim.about, pd.DataFrame({"dataset": []}))
    names = dict.fromkeys(str(each) for each in measured["dataset"])
    return tuple(each for each in names if each in MCC_RELATED)


def _look(claim: Claim, scope: _Scope, datasets: Sequence[str], n_draws: int | None) -> _Looked:
    """Run a check on what there is, and on draws of the folds."""
    if n_draws is not None:
        claim = replace(claim, draws=min(claim.draws, n_draws))
    if claim.about in scope.rankings:
        evidence = _evidence(claim, scope, datasets)
    else:
        measured = scope.measured.get(claim.about, pd.DataFrame({"dataset": []}))
        measured = measured[measured["dataset"].isin(list(datasets))]
        there = tuple(each for each in datasets if each in set(measured["dataset"]))
        evidence = Evidence(claim, there, measured=measured)
    n, few = len(evidence.datasets), len(evidence.datasets) < min(_FEWEST, len(claim.datasets))
    if n == 0:
        return _Looked(why_not="whole cells")
    too_few = few and claim.form in (AVERAGE, MOST)
    try:
        found = claim.check(evidence)
        noisy = claim.noisy and not too_few and within_noise(claim.check, evidence, claim.draws)
    except NotThereError as error:
        return _Looked(why_not=str(error))
    if too_few:
        told = f"one data set is too few; there {found.told}{_notes(claim, evidence)}"
        return _Looked(UNDECIDED, None, "", told, "whole cells on more data sets")
    # One data set decides what is said of data sets at large only where it is an instance, or a counterexample.
    verdict = decided(claim.form, found, 1 if few else 0)
    noise = NOISE if noisy and verdict != UNDECIDED else ""
    return _Looked(verdict, found, noise, found.told + _notes(claim, evidence))


def _evidence(claim: Claim, scope: _Scope, datasets: Sequence[str]) -> Evidence:
    rankings = scope.rankings[claim.about]
    there = rankings.there(times=claim.times)
    rankers = [ranker for ranker in claim.rankers if ranker in rankings.rankers]
    if claim.form in (EXISTS, ALL):
        # One instance is enough, so no ranker needs to be there for another's sake.
        chosen = [each for each in datasets if any((each, ranker) in there for ranker in rankers)]
    else:
        # A rank, or the best, among some of the rankers says nothing of that among all of them.
        chosen = [
            each
            for each in datasets
            if rankers
            and all((each, ranker) in there for ranker in claim.rankers)
            and any((each, ranker) not in rankings.ended for ranker in rankers)
        ]
    if claim.about == "convergence":
        claim = replace(claim, rankers=tuple(rankers))
    folds = scope.folds_of(claim.about, claim.draws if claim.noisy else 0)
    return Evidence(claim, tuple(chosen), folds, scope.posteriors.get(claim.about))


def _notes(claim: Claim, evidence: Evidence) -> str:
    """Say which data sets the numbers are of, where stand-ins count, and which rankers are the same there."""
    notes = []
    if len(claim.datasets) > 1:
        notes.append(f"on {', '.join(evidence.datasets)}")
    if evidence.folds is None or claim.times:
        return f" ({'; '.join(notes)})" if notes else ""
    rankings = evidence.rankings
    used = [
        (dataset, ranker)
        for dataset, ranker in sorted(rankings.stand_ins)
        if dataset in evidence.datasets and ranker in claim.rankers
    ]
    if used:
        where = [each for each in evidence.datasets if each in {dataset for dataset, _ in used}]
        notes.append(f"ours as skrebate's stand for skrebate's on {', '.join(where)}")
    notes += _same_told(claim, evidence)
    return f" ({'; '.join(notes)})" if notes else ""


def _same_told(claim: Claim, evidence: Evidence) -> list[str]:
    """Say which of the claim's rankers are one and the same on its data sets."""
    where: dict[tuple[tuple[str, ...], ...], list[str]] = {}
    for dataset in evidence.datasets:
        groups = [
            tuple(ranker for ranker in group if ranker in claim.rankers)
            for group in evidence.rankings.same.on.get(dataset, [])
        ]
        where.setdefault(tuple(group for group in groups if len(group) > 1), []).append(dataset)
    return [
        f"the same on {', '.join(datasets)}: {same_in_words(groups, evidence.rankings.labels)}"
        if len(groups) <= _MOST_SAME
        else f"{len(groups)} groups of rankers are each the same on {', '.join(datasets)}"
        for groups, datasets in where.items()
        if groups
    ]


# --- what is missing ---


def _missing(claim: Claim, scope: _Scope) -> tuple[str, int]:
    """Say which of the paper's cells are missing, and on how many data sets."""
    if claim.about not in scope.rankings:
        measured = scope.measured.get(claim.about, pd.DataFrame({"dataset": []}))
        lacking = [each for each in claim.datasets if each not in set(measured["dataset"])]
        return ", ".join(lacking), len(lacking)
    rankings = scope.rankings[claim.about]
    there, whole_cells = rankings.there(times=claim.times), rankings.there()
    needed = {dataset: _needed(claim, dataset) for dataset in claim.datasets}
    gone = {
        dataset: [ranker for ranker in rankers if (dataset, ranker) not in there]
        for dataset, rankers in needed.items()
    }
    whole = [dataset for dataset, rankers in gone.items() if len(rankers) == len(needed[dataset])]
    rest = {dataset: rankers for dataset, rankers in gone.items() if dataset not in whole}
    parts = [f"{', '.join(whole)} (every ranker)"] if whole else []
    if claim.times:
        untimed = {
            dataset: [ranker for ranker in rankers if (dataset, ranker) in whole_cells]
            for dataset, rankers in rest.items()
        }
        rest = {
            dataset: [ranker for ranker in rankers if ranker not in untimed[dataset]]
            for dataset, rankers in rest.items()
        }
        parts += _cells(rest, rankings) + [f"times of {each}" for each in _cells(untimed, rankings)]
    else:
        parts += _cells(rest, rankings)
    return "; ".join(parts), sum(bool(rankers) for rankers in gone.values())


def _needed(claim: Claim, dataset: str) -> tuple[str, ...]:
    if claim.about != "convergence":
        return claim.rankers
    last = side.CONVERGENCE_NUMBERS[dataset]
    return tuple(
        ranker
        for ranker in claim.rankers
        if "=" not in ranker or int(ranker.rstrip("]").rpartition("=")[2]) <= last
    )


def _cells(lacking: Mapping[str, Sequence[str]], rankings: Rankings) -> list[str]:
    """Name cells; rankers that lack the same data sets stand together."""
    of_ranker: dict[str, list[str]] = {}
    for dataset, rankers in lacking.items():
        for ranker in rankers:
            of_ranker.setdefault(ranker, []).append(dataset)
    alike: dict[tuple[str, ...], list[str]] = {}
    for ranker, datasets in of_ranker.items():
        alike.setdefault(tuple(datasets), []).append(rankings.labels.get(ranker, ranker))
    parts = []
    for shared, names in alike.items():
        told = names if len(names) <= _MOST_TOLD else [*names[:_MOST_TOLD], f"{len(names) - _MOST_TOLD} more"]
        parts.append(f"{', '.join(shared)} × {', '.join(told)}")
    return parts
