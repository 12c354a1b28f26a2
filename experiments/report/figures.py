"""Figures of a study: frames → files, and what each of them shows and leaves out."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pandas as pd

from experiments.analysis import measurements
from experiments.analysis.comparison import Comparison
from experiments.analysis.pairs import PAPER_PAIRS, paper_pairs
from experiments.analysis.same_rankers import stand_ins_said, stands_for
from experiments.analysis.scores import DIAGRAMS
from experiments.formatting import count
from experiments.paths import file_stem

#: Lines about rankers that are the same in the small print of a figure; of more data sets the page tells.
_SAME_TOLD = 3


@dataclass(frozen=True)
class Drawn:
    """A figure on disk: what it shows, of which group or study, and its files (PNG first)."""

    figure: str
    of: str
    stem: str
    title: str
    note: str
    files: tuple[Path, ...]


class Drawing:
    """Draws figures into one folder, one after the other."""

    def __init__(self, results: Path):
        self._folder = Path(results) / "figures"
        self.drawn: list[Drawn] = []

    def add(
        self, name: str, of: str, make: Any, *frames: Any, title: str, note: str = "", **settings: Any
    ) -> None:
        """Draw a figure and save it."""
        self.save(name, of, make(*frames, title=title, note=note, **settings), title, note)

    def nothing(self, name: str, of: str, why: str, *, title: str, note: str = "") -> None:
        """Save a figure that says why there is nothing to see."""
        from experiments.figures import layout

        self.save(name, of, layout.empty(title, why, note), title, note)

    def save(self, name: str, of: str, figure: Any, title: str, note: str) -> None:
        """Save a figure that is drawn."""
        from experiments.figures import style

        stem = file_stem(of, name)
        self.drawn.append(Drawn(name, of, stem, title, note, tuple(style.save(figure, self._folder, stem))))


def note_of(comparison: Comparison, *lines: str, same: bool = True) -> str:
    """Join the small print of a figure: its own lines, equal rankers, and what is missing."""
    missing = comparison.missing_lines
    lines = (*lines, *(comparison.same_lines[:_SAME_TOLD] if same else []))
    told = [f"Missing: {missing[0]}.", *(f"{line}." for line in missing[1:])] if missing else []
    return "\n".join([*(line for line in lines if line), *told])


def draw_group(comparison: Comparison, results: Path) -> list[Drawn]:
    """Draw all figures of a group."""
    from experiments.figures import area, convergence, similarity, times

    group, drawing = comparison.group, Drawing(results)
    name, labels, score = group.name, comparison.labels, group.kind.score
    if group.varies_iterations:
        drawing.add(
            "convergence",
            name,
            convergence.figure,
            comparison.convergence,
            score=score,
            title=f"{group.study}: AUr{score} against iterations ({group.extent})",
            note=note_of(
                comparison, "Markers: mean over folds; strokes: from the lowest to the highest fold."
            ),
        )
        return drawing.drawn
    branches = dict(zip(group.families["ranker"], group.families["branch"], strict=True))
    for measure in DIAGRAMS[group.task]:
        _critical_distance(drawing, comparison, measure)
    seconds = comparison.averages["fit_seconds"]
    drawing.add(
        "times",
        name,
        times.figure,
        seconds,
        comparison.scores["fit_seconds"],
        title=f"{group.study}: time of a fit ({group.extent})",
        note=note_of(
            comparison,
            f"Markers: mean over {_datasets(seconds)}; lines: ± standard deviation over data sets, to the edge "
            "where the mean is no larger; strokes: the data sets' own means."
            if len(seconds)
            else "",
            _left_out(comparison, "fit_seconds"),
            same=False,
        ),
        labels=labels,
        branches=branches,
        nothing=comparison.nothing("fit_seconds"),
    )
    areas = comparison.averages["aurf1"]
    drawing.add(
        comparison.measures["aurf1"].key,
        name,
        area.figure,
        areas,
        comparison.scores["aurf1"],
        title=f"{group.study}: area under the relative {score} curve ({group.extent})",
        note=note_of(
            comparison,
            f"Right: mean over {_datasets(areas)}, with the 95 % t interval over data sets. 1 = as good as all "
            "features. Hatched: no number.",
            _left_out(comparison, "aurf1"),
        ),
        labels=labels,
        score=score,
    )
    of_what = {"curves": f"mean r{score} curves", "weights": "weights of features"}
    for kind, said in of_what.items():
        drawing.add(
            f"aufuji_{kind}",
            name,
            similarity.figure,
            comparison.similarity[kind],
            title=f"{group.study}: AUFUJI of {said} ({group.extent})",
            note=note_of(
                comparison,
                "Mean over the data sets that both rankers finished; order by average-linkage clustering.",
            ),
            labels=labels,
        )
    _posteriors(drawing, comparison)
    return drawing.drawn


def _critical_distance(drawing: Drawing, comparison: Comparison, measure: str) -> None:
    from experiments.figures import critical_distance

    group, what = comparison.group, comparison.measures[measure]
    found = comparison.ranks[measure]
    title = f"{group.study}: average ranks by {what.title} ({group.extent})"
    note = note_of(
        comparison,
        "" if what.higher_is_better else "1 = the shortest time.",
        _rankers_left_out(comparison, comparison.rank_left_out[measure], measure),
        same=measure != "fit_seconds",
    )
    if found is None:
        name, why = f"critical_distance_{what.key}", comparison.rank_reasons[measure]
        drawing.nothing(name, group.name, why, title=title, note=note)
        return
    drawing.add(
        f"critical_distance_{what.key}",
        group.name,
        critical_distance.figure,
        found,
        title=title,
        note=note,
        labels=comparison.labels,
    )


def _posteriors(drawing: Drawing, comparison: Comparison) -> None:
    from experiments.figures import posterior

    found, group = comparison.posterior, comparison.group
    score = group.kind.score
    if found is None:
        title = f"{group.study}: hierarchical Bayesian test on max {score} ({group.extent})"
        drawing.nothing("posterior", group.name, comparison.untested, title=title, note=note_of(comparison))
        return
    table = found.table
    probabilities = {
        (line.ranker_a, line.ranker_b): (line.p_a, line.p_rope, line.p_b) for line in table.itertuples()
    }
    sampled = "; ".join(f"{word}: {value}" for word, value in found.sampling.items())
    shown = paper_pairs(zip(table["ranker_a"], table["ranker_b"], table["n_datasets"], strict=True))
    which = "the paper's pairs" if shown else "the first pairs"
    pairs = list(shown.values()) or list(probabilities)[: len(PAPER_PAIRS)]
    messages = [
        f"{comparison.labels[line.ranker_a]} – {comparison.labels[line.ranker_b]}: {line.message}"
        for line in table.itertuples()
        if line.message and (line.ranker_a, line.ranker_b) in pairs
    ]
    drawing.add(
        "posterior",
        group.name,
        posterior.figure,
        pairs,
        found.draws,
        probabilities,
        title=f"{group.study}: hierarchical Bayesian test on max {score}, {which} ({group.extent})",
        note=note_of(
            comparison,
            "Points: draws of the posterior, in the colour of the ranker they favour, grey for no difference. "
            "Corners: probability that the ranker named there is better, or that the two are equal (differ by less "
            "than the rope).",
            *_paper_notes(comparison, shown),
            f"{sampled}.",
            *messages,
        ),
        labels=comparison.labels,
        n_columns=2 if len(pairs) <= 4 else 4,
    )


def _paper_notes(comparison: Comparison, shown: Mapping[tuple[str, str], tuple[str, str]]) -> list[str]:
    """Say which pairs of the paper's figures are shown, by what rankers, and which are not."""
    if not shown:
        return []
    named = comparison.labels
    stand_ins = dict.fromkeys(
        ranker for pair in shown.values() for ranker in pair if stands_for(ranker) != ranker
    )
    lines = [stand_ins_said([named[ranker] for ranker in stand_ins])] if stand_ins else []
    absent = [pair for pair in PAPER_PAIRS if pair not in shown]
    if absent:
        told = ", ".join(f"{named.get(a, a)} – {named.get(b, b)}" for a, b in absent)
        lines.append(f"Of the paper's {len(PAPER_PAIRS)} pairs not tested: {told}.")
    return lines


def _datasets(found: pd.DataFrame) -> str:
    names = found.attrs["datasets"]
    return f"{count(len(names), 'data set')} ({', '.join(names)})" if names else "no data set"


def _left_out(comparison: Comparison, measure: str) -> str:
    found = comparison.averages[measure]
    not_common = [] if comparison.nothing(measure) else found.attrs["not_common"]
    lines = [
        f"Data sets that some ranker lacks, not in the mean: {', '.join(not_common)}." if not_common else "",
        _rankers_left_out(comparison, found.attrs["left_out"], measure),
    ]
    return " ".join(line for line in lines if line)


def _rankers_left_out(comparison: Comparison, rankers: Sequence[str], measure: str) -> str:
    """Name the rankers that are not compared: those without any number apart, unless none has one."""
    if comparison.nothing(measure):
        return ""
    empty = comparison.scores[measure].isna().all(axis=0)
    bare = [ranker for ranker in rankers if empty[ranker]]
    what = "times" if measure == "fit_seconds" else comparison.measures[measure].title
    parts = (
        (f"Complete, but without {what}", bare),
        ("Rankers not compared, which share too few data sets", [r for r in rankers if r not in bare]),
    )
    named = [(said, [comparison.labels.get(ranker, ranker) for ranker in each]) for said, each in parts]
    return " ".join(f"{said}: {', '.join(names)}." for said, names in named if names)


def draw_measurements(
    frame: pd.DataFrame,
    begin: str,
    kind: str,
    labels: dict[str, str],
    missing: Sequence[str],
    results: Path,
) -> list[Drawn]:
    """Draw the figures of what was measured under one protocol."""
    from experiments.figures import recovery, side_experiments, style

    if kind not in measurements.KINDS:
        return []
    drawing, spread = Drawing(results), measurements.points(frame, kind)
    told = "\n".join(f"Missing: {line}." for line in missing)
    once = "" if spread.empty or spread["repeat"].max() == 0 else "The first repeat is shown."
    first = spread[spread["repeat"] == 0]
    if kind == "sparsity":
        tried, estimated = first[~first["estimated"].astype(bool)], first[first["estimated"].astype(bool)]
        drawing.add(
            "epsilon", begin, side_experiments.sparsification, first, note=_joined(once, told),
            title="Share of non-zeros that sparsification leaves",
        )  # fmt: skip
        for name, part, said in (
            ("densities", tried, "for all ε tried"),
            ("densities_estimated", estimated, "for the estimated ε"),
        ):
            density = measurements.density_of_shares(part["share_before"], part["share"])
            n_points = len(part[["share_before", "share"]].drop_duplicates())
            grey = "Grey: kernel density of the points."
            if not len(density):
                fewest = measurements.FEWEST_POINTS[2]
                grey = f"No density: {n_points} different points on a plane, of which it needs {fewest}."
                grey = grey if n_points < fewest else "No density: the points lie on a line."
            drawing.add(
                name, begin, side_experiments.densities, part, density, note=_joined(grey, once, told),
                title=f"Share of non-zeros before and after sparsification, {said}",
            )  # fmt: skip
    elif kind == "latent_dimension":
        for dataset, mine in first.groupby("dataset", sort=False):
            drawing.add(
                str(dataset), begin, side_experiments.latent_dimension, mine, note=_joined(once, told),
                title=f"Latent dimension of {dataset}: the line through the origin and its points",
            )  # fmt: skip
        if first.empty:
            drawing.add(
                "none", begin, side_experiments.latent_dimension, first, title="Latent dimension", note=told
            )
    elif kind == "adaptive_k":
        density = measurements.density_of_neighbors(spread)
        drawing.add(
            "densities", begin, side_experiments.adaptive_k, density, labels=labels,
            title="Numbers of neighbours that adaptive rankers take",
            note=_joined(
                "Kernel densities over samples and classes, from 1 to the largest class; samples without a "
                "neighbour are not counted.", told,
            ),
        )  # fmt: skip
    elif kind == "recovery":
        title, shares = "Informative features that rankers find among noise", measurements.recovered(frame)
        if shares.empty:
            drawing.nothing(kind, begin, "nothing has been measured", title=title, note=told)
        else:
            looks = style.ranker_looks(list(labels))
            figure = recovery.figure(shares, labels=labels, looks=looks, note=told)
            drawing.save(kind, begin, figure, title, told)
    elif kind == "phases":
        drawing.add(
            "shares", begin, side_experiments.phases, measurements.phase_means(spread), labels=labels,
            title="Where the time of a fit goes", note=_joined("Means over repeats.", told),
        )  # fmt: skip
    return drawing.drawn


def _joined(*lines: str) -> str:
    return "\n".join(line for line in lines if line)
