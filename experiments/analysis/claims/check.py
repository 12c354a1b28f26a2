"""The check of the paper's claims: one loop over claims.yaml, three verdicts for each claim."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

import pandas as pd

from experiments.analysis.claims.cells import (
    Cells,
    Pool,
    expand,
    stated,
    study_rankers,
    with_iterations,
)
from experiments.analysis.claims.predicates import PREDICATES, NoAnswerError, Scores
from experiments.analysis.pairs import Posteriors

HOLDS, HOLDS_NOT, UNDECIDED = "holds", "does not hold", "cannot be decided"
#: No rows on the data sets; not asked, because the claim is about named data sets.
NO_ROWS, NOT_ASKED = "no rows", "–"
#: One instance decides "exists", one counterexample "for_all"; an average needs all data sets.
EXISTS, FOR_ALL, AVERAGE = "exists", "for_all", "average"
#: Where a verdict is of → columns with the verdict and with the repeats in which the claim holds.
SCOPES = {
    "the paper's data sets": ("verdict", "repeats"),
    "those available": ("at_hand", "repeats"),
    "related data sets": ("related", "repeats_related"),
}
COLUMNS = [
    *("about", "claim", "form", "place", "statement", "reading", "verdict", "at_hand", "related"),
    *("repeats", "repeats_related", "evidence", "evidence_related", "datasets", "missing"),
]
#: Arguments of predicates that name rankers or groups of them.
_RANKERS = {"rankers", "better", "worse", "fast", "slow", "changed", "plain", "distances"}
_RANKERS |= {"reference", "families"}
_FEWEST = 2  # an average over one data set says nothing of data sets


@dataclass(frozen=True)
class Claim:
    """One entry of claims.yaml, with its groups expanded."""

    about: str
    claim: str
    form: str
    place: str
    statement: str
    reading: str
    test: str
    args: dict[str, Any]
    datasets: tuple[str, ...]
    rankers: tuple[str, ...]
    #: Whether it is about data sets at large; one about named data sets is not asked of others.
    general: bool

    @property
    def times(self) -> bool:
        """Whether it is about times: one repeat with times is enough, and no stand-in counts."""
        return self.test in _OF_TIMES

    @property
    def pairs(self) -> tuple[tuple[str, str], ...]:
        """Pairs of rankers whose posterior it needs."""
        return self.args.get("pairs", ())


_OF_TIMES = {
    *("times_faster", "pairwise_times_faster", "first_by_time", "always_faster", "largest_ratio", "slowest"),
    "not_finished",
}


def all_claims() -> list[Claim]:
    """Return every claim, in the order of claims.yaml."""
    return [_claim(each) for each in stated()["claims"]]


def _claim(entry: Mapping[str, Any]) -> Claim:
    entry = dict(entry)
    about, args = entry.pop("about"), dict(entry.pop("args"))
    study = stated()["studies"].get(about, {})
    datasets = expand(entry.pop("datasets", study.get("datasets", "mcc_datasets")))
    general = entry.pop("general", "dataset" not in args and about != "convergence")
    for name, value in args.items():
        if name == "pairs":
            args[name] = tuple(tuple(pair) for group in ([value] if isinstance(value, str) else value)
                               for pair in stated()["pairs"][group])  # fmt: skip
        elif name in _RANKERS:
            args[name] = value if about == "convergence" and isinstance(value, str) else expand(value)
    if "dataset" in args:
        datasets = (args["dataset"],)
    rankers = entry.pop("rankers", None)
    if about == "convergence":
        families = expand(rankers or study["rankers"])
        most = max(study["iterations"][each] for each in datasets)
        names = tuple(name for family in families for name in with_iterations(family, most))
    elif "pairs" in args:
        names = tuple(dict.fromkeys(ranker for pair in args["pairs"] for ranker in pair))
    else:
        names = expand(rankers) if rankers else study_rankers(about) if study else ()
    return Claim(about, args=args, datasets=datasets, rankers=names, general=general, **entry)


def check(
    pool: Pool,
    posteriors: Mapping[str, Posteriors | None] | None = None,
    related_posteriors: Mapping[str, Posteriors | None] | None = None,
    claims: Sequence[Claim] | None = None,
) -> pd.DataFrame:
    """Check the claims that the rows of a pool are about: a line for each claim, with :data:`COLUMNS`."""
    lines = []
    for claim in all_claims() if claims is None else claims:
        if claim.about not in {*pool.paper, *pool.measured}:
            continue
        line = {name: getattr(claim, name) for name in COLUMNS[:6]}
        missing = _missing(claim, pool)
        here = _look(claim, pool.paper.get(claim.about), pool, posteriors, claim.datasets)
        if claim.general:
            cells = pool.related.get(claim.about)
            names = cells.datasets if cells is not None else expand("mcc_related")
            there = _look(claim, cells, pool, related_posteriors, names)
        else:
            there = _Looked(NOT_ASKED)
        verdict = UNDECIDED if here.holds is None else _decided(claim.form, here.holds, bool(missing))
        line |= {"verdict": verdict, "at_hand": here.verdict, "related": there.verdict}
        line |= {"repeats": here.repeats, "repeats_related": there.repeats}
        line |= {"evidence": here.value, "evidence_related": there.value}
        line["datasets"] = f"{len(claim.datasets) - len(missing)} of {len(claim.datasets)}"
        line["missing"] = (", ".join(missing) or here.missing) if verdict == UNDECIDED else ""
        lines.append(line)
    return pd.DataFrame(lines, columns=COLUMNS)


@dataclass(frozen=True)
class _Looked:
    """What a claim's predicate returns on some data sets; ``holds`` is None where it has no answer."""

    verdict: str = NO_ROWS
    holds: bool | None = None
    repeats: str = ""
    value: str = ""
    missing: str = ""


def _decided(form: str, holds: bool, is_missing: bool) -> str:
    if is_missing and not (holds if form == EXISTS else form == FOR_ALL and not holds):
        return UNDECIDED
    return HOLDS if holds else HOLDS_NOT


def _look(
    claim: Claim,
    cells: Cells | None,
    pool: Pool,
    posteriors: Mapping[str, Posteriors | None] | None,
    datasets: Sequence[str],
) -> _Looked:
    """Evaluate a claim on the data sets with rows, and on each repeat of them."""
    if cells is None:
        measured = pool.measured[claim.about]
        measured = measured[measured["dataset"].isin(list(datasets))]
        available = [each for each in datasets if each in set(measured["dataset"])]
        nothing = Cells((), pd.DataFrame(), pd.DataFrame(), {}, {})
        scores = Scores(nothing, (), tuple(available), measured=measured)
    else:
        available = _available(claim, cells, datasets)
        scores = Scores(cells, claim.rankers, tuple(available), (posteriors or {}).get(claim.about))
    if not available:
        return _Looked()
    few = len(available) < min(_FEWEST, len(claim.datasets))
    try:
        found = PREDICATES[claim.test](scores, **claim.args)
    except NoAnswerError as error:
        return _Looked(missing=f"needed: {error}")
    value = found.value + (f" (on {', '.join(available)})" if len(claim.datasets) > 1 else "")
    if few and claim.form == AVERAGE:
        return _Looked(UNDECIDED, None, "", f"one data set is too few; {value}")
    verdict = _decided(claim.form, found.holds, few)
    has_repeats = cells is not None and not claim.pairs and verdict != UNDECIDED
    return _Looked(verdict, found.holds, _repeats(claim, scores) if has_repeats else "", value)


def _repeats(claim: Claim, scores: Scores) -> str:
    """Count the repeats of the cross-validation in which a claim holds; "" for a single one."""
    answers = []
    for repeat in scores.cells.repeats(scores.datasets, scores.rankers, times=claim.times):
        try:
            answers.append(PREDICATES[claim.test](replace(scores, repeat=repeat), **claim.args).holds)
        except NoAnswerError:
            continue
    return f"{sum(answers)} of {len(answers)}" if len(answers) > 1 else ""


def _available(claim: Claim, cells: Cells, datasets: Sequence[str]) -> list[str]:
    """Return the data sets that a claim can be evaluated on."""
    whole = cells.whole(times=claim.times)
    if claim.about == "convergence":  # without the numbers of iterations that no data set has
        ran = {ranker for _, ranker in whole}
        claim = replace(claim, rankers=tuple(each for each in claim.rankers if each in ran))
    if claim.form in (EXISTS, FOR_ALL):
        return [each for each in datasets if any((each, ranker) in whole for ranker in claim.rankers)]
    # A rank, or the best, among some of the rankers says nothing of that among all of them.
    return [
        each
        for each in datasets
        if all((each, ranker) in whole for ranker in claim.rankers)
        and any((each, ranker) not in cells.ended for ranker in claim.rankers)
    ]


def _missing(claim: Claim, pool: Pool) -> list[str]:
    """Return the paper's data sets on which some cell of a claim is missing."""
    if claim.about not in pool.paper:
        return [each for each in claim.datasets if each not in set(pool.measured[claim.about]["dataset"])]
    whole = pool.paper[claim.about].whole(times=claim.times)
    return [
        each for each in claim.datasets if any((each, name) not in whole for name in _needed(claim, each))
    ]


def _needed(claim: Claim, dataset: str) -> Sequence[str]:
    if claim.about != "convergence":
        return claim.rankers
    last = stated()["studies"]["convergence"]["iterations"][dataset]
    families = dict.fromkeys(name.partition("[")[0] for name in claim.rankers)
    return [name for family in families for name in with_iterations(family, last)]


def shown(verdict: str, repeats: str) -> str:
    """Return a verdict with the number of repeats in which the claim holds."""
    if not repeats or verdict not in (HOLDS, HOLDS_NOT):
        return verdict
    return f"{verdict} ({'in' if verdict == HOLDS else 'holds in'} {repeats} repeats)"


def for_people(claims: pd.DataFrame) -> pd.DataFrame:
    """Return texts, a line for each claim: claim, reading, the keys of :data:`SCOPES`, numbers, place."""
    lines = []
    for line in claims.to_dict("records"):
        numbers = [line["evidence"], line["evidence_related"], line["missing"]]
        named = zip(("", "Related data sets: ", "Missing: "), numbers, strict=True)
        lines.append(
            {
                "claim": line["statement"],
                "reading": line["reading"],
                **{
                    where: shown(line[verdict], line[repeats]) for where, (verdict, repeats) in SCOPES.items()
                },
                "numbers": ". ".join(before + text for before, text in named if text),
                "place": line["place"],
            }
        )
    return pd.DataFrame(lines, columns=["claim", "reading", *SCOPES, "numbers", "place"])


def counted(claims: pd.DataFrame) -> str:
    """Return how many claims have which verdict, in a sentence."""
    parts = []
    for where, (verdict, _) in SCOPES.items():
        counts = claims.loc[claims[verdict] != NOT_ASKED, verdict].value_counts()
        order = [name for name in (HOLDS, HOLDS_NOT, UNDECIDED, NO_ROWS) if name in counts]
        if order:
            parts.append(f"on {where}: " + ", ".join(f"{name} {counts[name]}" for name in order))
    return f"Verdicts on {len(claims)} claims of the paper: {'; '.join(parts)}."
