"""A study's report as one HTML file that needs no network: tables by pandas, figures as drawn, one template."""

from __future__ import annotations

import base64
import hashlib
import json
import math
import shlex
from collections.abc import Callable, Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any, NamedTuple

import pandas as pd
from jinja2 import Environment, FileSystemLoader, StrictUndefined
from markupsafe import Markup, escape

from experiments.analysis import measurements, provenance
from experiments.analysis.claims.check import SCOPES, counted, for_people
from experiments.analysis.comparison import NOT_ASKED, Comparison
from experiments.analysis.cost import cost_quality
from experiments.analysis.pairs import ROPE
from experiments.analysis.same_rankers import stand_ins_said, stands_for
from experiments.analysis.scores import averages
from experiments.analysis.selection import PAIR
from experiments.analysis.stability import TOPS, phi, stability_table, unstated
from experiments.analysis.ties import tied_ranks
from experiments.analysis.verdict import Verdict, verdict
from experiments.figures.style import ranker_color
from experiments.formatting import count, percent, rank_shown
from experiments.paths import write_whole
from experiments.programs import program
from experiments.report import sentences
from experiments.report.sentences import places, probability, score, seconds
from experiments.schema import BAD_STATUSES, when_again

__all__ = ["number", "table", "write", "write_page"]

_HERE = Path(__file__).resolve().parent
_IMAGES = {".svg": "image/svg+xml", ".png": "image/png"}
#: Features of each data set and ranker on the page; the CSV file has 20.
_BEST_FEATURES = 5
#: Observable Plot, and d3 on which it builds, draw what can be pointed at.
_SCRIPTS = ("vendor/d3.min.js", "vendor/plot.umd.min.js", "charts.js", "page.js")
_VERDICTS = {"holds": "good", "does not hold": "bad"}
#: How Styler calls its cells; short, since every cell has them.
_CLASSES = {"row": "r", "col": "c", "data": "", "col_heading": "", "level": "l"}


class Section(NamedTuple):
    """A part of the page: what it is about, figures, tables and lines of text."""

    id: str
    title: str
    about: str = ""
    figures: Sequence[Mapping[str, str]] = ()
    tables: Sequence[str] = ()
    lines: Sequence[str] = ()
    chart: str = ""


class Group(NamedTuple):
    """What the page shows of one comparison."""

    id: str
    title: str
    headline: str
    compared: str
    sure: Sequence[str]
    notes: Sequence[str]
    sections: Sequence[Section]
    charts: Mapping[str, Any]


def number(value: float, text: str) -> Markup:
    """Make a cell of a number, sorted by all its digits; a dash, sorted last, where it is missing or infinite."""
    if value is None or not math.isfinite(value):
        return Markup("–")
    return Markup('<data value="{}">{}</data>').format(repr(float(value)), text)


def numbers(values: Iterable[float], write: Callable[[float], str]) -> list[Markup]:
    """Make a column of numbers."""
    return [number(value, write(value)) for value in values]


def table(
    name: str,
    caption: str,
    columns: Mapping[str, Sequence[Any]],
    *,
    classes: Mapping[str, Sequence[str]] | None = None,
    empty: str = "Nothing to show.",
) -> Markup:
    """Make a table that can be sorted and filtered: numbers from :func:`number`, all else is text, never markup."""
    frame = pd.DataFrame({title: pd.Series(list(cells), dtype=object) for title, cells in columns.items()})
    if not len(frame):
        return Markup('<p class="faint">{}: {}</p>').format(caption, empty)
    right = {
        column: [{"selector": "", "props": "text-align: right; white-space: nowrap"}]
        for column in frame.columns
        if any(isinstance(cell, Markup) for cell in frame[column])
    }
    styler = frame.style
    styler.uuid, styler.cell_ids = name, False
    styler.format(lambda cell: str(escape(cell))).format_index(escape="html", axis=1).hide(axis="index")
    styler.set_caption(f"<span>{escape(caption)}</span>").set_table_attributes('class="sortable"')
    styler.set_table_styles(right, css_class_names=_CLASSES)
    if classes:
        styler.set_td_classes(pd.DataFrame(classes).reset_index(drop=True))
    return Markup('<div class="scroll{}" role="region" aria-label="{}" tabindex="0">{}</div>').format(
        " tall" if len(frame) > 24 else "", caption, Markup(styler.to_html())
    )


def write_page(
    path: Path, template: str, *, scripts: Sequence[str] = ("page.js",), data: Any = None, **values: Any
) -> Path:
    """Write a page from its template, with the style sheet, the scripts and their data inside."""
    script = "\n".join(f"(() => {{\n{_text(name)}}})();" for name in scripts)
    digest = base64.b64encode(hashlib.sha256(script.encode()).digest()).decode("ascii")
    environment = Environment(
        loader=FileSystemLoader(_HERE), autoescape=True, undefined=StrictUndefined, trim_blocks=True
    )
    page = environment.get_template(template).render(
        **values,
        css=Markup(_text("page.css")),
        data=Markup(_json(data)),
        script=Markup(script),
        script_hash=f"sha256-{digest}",
    )
    return write_whole(path, page.encode("utf-8", "backslashreplace"))


def _text(name: str) -> str:
    return (_HERE / name).read_text(encoding="utf-8")


def _json(data: Any) -> str:
    # Inside a script element only these could end it or be taken for markup.
    packed = json.dumps(data, allow_nan=False, separators=(",", ":"))
    return packed.replace("<", "\\u003c").replace(">", "\\u003e").replace("&", "\\u0026")


def write(
    comparisons: Sequence[Comparison],
    *,
    study: str | None,
    frame: pd.DataFrame,
    configs: Sequence[Mapping[str, Any]],
    path: Path,
    arguments: Sequence[str] = (),
    absent: Mapping[str, str] | None = None,
    claims: pd.DataFrame | None = None,
    drawn: Sequence[Any] = (),
    unmeasured: Sequence[str] = (),
) -> Path:
    """Write the page of a study (None: typed without a name) from its comparisons, rows, claims and figures."""
    protocols = {config["protocol"]["name"]: config["protocol"] for config in configs}
    groups = [
        _group(each, protocols[each.group.protocol], f"g{place}", drawn, named=study is not None)
        for place, each in enumerate(comparisons)
    ]
    names = {each.group.name for each in comparisons}
    others = [
        *_measured(frame, configs, unmeasured, [each for each in drawn if each.of not in names]),
        *_claims(claims),
    ]
    return write_page(
        path,
        "page.html",
        scripts=_SCRIPTS if groups else ("page.js",),
        data=[group.charts for group in groups],
        title=f"Study {study}" if study else "Feature rankers compared",
        places=places(comparisons),
        intro="" if groups or not absent else sentences.gaps(0, 0, list(absent)),
        groups=groups,
        sections=[*others, _provenance(frame, configs, comparisons)],
        commands=_commands(study, arguments),
    )


def _group(
    c: Comparison, protocol: Mapping[str, Any], own: str, drawn: Sequence[Any], *, named: bool
) -> Group:
    group, labels, ranks = c.group, c.labels, c.ranks["best_f1"]
    pairs = None if c.posterior is None else c.posterior.table
    verdicts = {
        key: Verdict()
        if (found := c.ranks[key]) is None
        else verdict(
            found.average_ranks,
            n_datasets=len(found.used),
            critical_distance=found.cd,
            pairs=pairs if key == "best_f1" else None,
            same=c.same.everywhere,
        )
        for key in ("best_f1", "fit_seconds")
    }
    done = c.summary[c.summary["complete"]]
    here, scores = list(done["dataset"].unique()), c.scores["best_f1"]
    n_asked = group.expected["dataset"].nunique()
    cost = cost_quality(c.scores["fit_seconds"], {"best_f1": scores})
    charts = _charts(c, own, cost)
    cost = cost[cost["dataset"] == ""]
    notes = [
        *c.same_lines,
        sentences.left_out(
            {} if ranks is None else ranks.left_out, c.rank_left_out["best_f1"], labels, group.also
        ),
        sentences.speed(verdicts["fit_seconds"], labels, cost.to_dict("records")),
        sentences.gaps(len(c.missing), len(group.expected), list(group.absent)),
        "The first command under Provenance runs what is missing." if c.missing_lines else "",
    ]
    return Group(
        id=own,
        title=group.kind.target[0].upper() + group.kind.target[1:],
        headline=sentences.headline(
            verdicts["best_f1"],
            labels,
            title=c.measures["best_f1"].title,
            scores={} if not len(scores) else scores.iloc[0].dropna().to_dict(),
            datasets=[] if ranks is None else list(ranks.used),
            n_here=len(here),
            complete=list(done["ranker"].unique()),
            same=c.same.everywhere,
        ),
        compared=sentences.compared(
            n_rankers=len(labels), datasets=here, n_asked=n_asked, task=group.task, protocol=protocol
        ),
        sure=sentences.sureness(
            verdicts["best_f1"],
            labels,
            friedman_p=math.nan if ranks is None else ranks.friedman_p,
            rope=ROPE,
            score=group.kind.score,
        ),
        notes=[line for line in notes if line],
        sections=_sections(c, own, drawn, cost.set_index("ranker")["seconds"], charts, named=named),
        charts=charts,
    )


def _charts(c: Comparison, own: str, cost: pd.DataFrame) -> dict[str, Any]:
    """Pack what charts show: points of (data set, number of the ranker, x, y), to six digits."""
    order = {ranker: place for place, ranker in enumerate(c.rankers)}

    def points(frame: pd.DataFrame, x: str, y: str) -> list[list[Any]]:
        frame = frame[(frame[x] > 0) & frame[y].map(math.isfinite)]
        columns = (frame["dataset"], frame["ranker"].map(order), frame[x], frame[y])
        return [
            [str(dataset), int(ranker), float(f"{a:.6g}"), float(f"{b:.6g}")]
            for dataset, ranker, a, b in zip(*columns, strict=True)
        ]

    return {
        "id": own,
        "score": c.group.kind.score,
        "rankers": [{"name": c.labels[each], "color": ranker_color(each)} for each in c.rankers],
        "curves": points(c.curves, "n_features", "rf1_mean"),
        "cost": points(cost, "seconds", "quality"),
    }


def _sections(
    c: Comparison,
    own: str,
    drawn: Sequence[Any],
    took: pd.Series,
    charts: Mapping[str, Any],
    *,
    named: bool,
) -> list[Section]:
    said, f1 = c.group.kind.said, c.group.kind.score
    stand_ins = [c.labels[each] for each in c.rankers if stands_for(each) != each]

    def figures(*begin: str) -> list[dict[str, str]]:
        mine = [each for each in drawn if each.of == c.group.name]
        return [_figure(each) for each in mine if each.figure.startswith(begin)]

    parts = [
        Section("ranks", "Ranks", "", figures("critical_distance"), [_rankers(c, own, took)]),
        Section(
            "results", "Results", "", figures(c.measures["aurf1"].key), [_matrix(c, own), _results(c, own)]
        ),
        Section(
            "curves",
            "Curves",
            f"r{f1} is {f1} with the best features divided by {f1} with all features. Above 1, the learner does "
            "better without the other features.",
            figures("rf1", "convergence"),
            chart="curves" if charts["curves"] else "",
        ),
        Section(
            "pairs",
            "Pairs",
            f"Each point of a triangle is a draw from the posterior of the hierarchical Bayesian test on the best "
            f"{f1} of each fold. Its nearest corner is the most probable outcome. "
            f"{sentences.sampled(None if c.posterior is None else c.posterior.table)}",
            figures("posterior"),
            [_pairs(c, own, named=named)],
            lines=[stand_ins_said(stand_ins)] if stand_ins else [],
        ),
        Section("times", "Times and quality", "", figures("times"), chart="cost" if charts["cost"] else ""),
        Section(
            "similarity",
            "Similarity of rankers",
            "AUFUJI, the area under the fuzzy Jaccard index: 1 means the same ranking. Similar rankers are next to "
            "each other.",
            figures("aufuji"),
        ),
        Section(
            "features",
            "Best features",
            "The features that a ranker chose most often: in which share of the folds a feature is among the first "
            "20 of the ranking, with its mean rank and weight over the folds in which it is. Features of equal "
            f"weight share their places. The first {_BEST_FEATURES} are shown; best_features.csv has 20.",
            tables=[_best_features(c, own)],
        ),
        Section(
            "stability",
            "Stability",
            "The similarity of the rankings of different folds. AUFUJI compares whole rankings, Φ (Nogueira, "
            "Sechidis and Brown) the best features of each fold. 1 means the same in every fold; Φ = 0 is the "
            "similarity of random sets. In brackets is the 95 % confidence interval of Φ. Folds share most of "
            "their samples, so stability is higher than between independent samples. A star marks sets that end "
            "between features of equal weight in some folds; these appear more stable than they are.",
            tables=[_mean_stability(c, own), _stability(c, own)],
            lines=[f"{line}." for line in unstated(c.stability, c.labels)],
        ),
        Section("missing", "Missing", tables=[_missing(c, own), _failures(c, own)], lines=c.missing_lines),
    ]
    return [
        part._replace(
            id=f"{own}-{part.id}",
            about=said(part.about),
            chart=part.chart and f"{own}-{part.chart}-chart",
        )
        for part in parts
        if part.figures or part.tables or part.lines or part.chart
    ]


def _figure(drawn: Any) -> dict[str, str]:
    """Embed a figure as an image, so that names inside one SVG cannot meet those of another."""
    file = min(map(Path, drawn.files), key=lambda file: list(_IMAGES).index(file.suffix))
    source = f"data:{_IMAGES[file.suffix]};base64,{base64.b64encode(file.read_bytes()).decode('ascii')}"
    return {"title": str(drawn.title).rstrip("."), "note": str(drawn.note or ""), "source": source}


def _rankers(c: Comparison, own: str, took: pd.Series) -> Markup:
    ranks = {key: None if (r := c.ranks[key]) is None else r.average_ranks for key in c.measures}
    order = _by_rank(c)
    n_asked = c.group.expected.groupby("ranker")["dataset"].nunique()
    n_complete = c.summary.groupby("ranker")["complete"].sum()
    columns: dict[str, Sequence[Any]] = {"ranker": [c.labels[each] for each in order]}
    for key, title in (
        ("best_f1", "rank by max F1"),
        ("mean_f1", "rank by mean F1"),
        ("aurf1", "rank by AUrF1"),
        ("fit_seconds", "rank by time"),
    ):
        found = ranks[key]
        values = [math.nan if found is None else found.get(each, math.nan) for each in order]
        columns[c.group.kind.said(title)] = numbers(values, rank_shown)
    for key, title in (("best_f1", "max F1"), ("aurf1", "AUrF1")):
        means = c.averages[key].set_index("ranker")["mean"].reindex(order)
        columns[c.group.kind.said(title)] = numbers(means, score)
    columns["seconds"] = numbers(took.reindex(order), seconds)
    columns["data sets"] = [
        number(n_complete.get(each, 0), f"{n_complete.get(each, 0)} of {n_asked[each]}") for each in order
    ]
    caption = (
        "Rankers over the data sets that all compared ones share: average ranks (1 is best), mean scores, "
        "geometric mean of the seconds of a fit"
    )
    return table(f"{own}-rankers", caption, columns)


def _by_rank(c: Comparison) -> list[str]:
    ranks = c.ranks["best_f1"]
    order = {} if ranks is None else ranks.average_ranks.to_dict()
    return sorted(c.rankers, key=lambda ranker: order.get(ranker, math.inf))


def _matrix(c: Comparison, own: str) -> Markup:
    """Show scores of data sets × rankers; the best of each data set is marked, however many rankers share it."""
    order = _by_rank(c)
    datasets = list(c.group.expected["dataset"].unique())
    scores = c.scores["best_f1"].reindex(index=datasets, columns=order)
    places = tied_ranks(scores, higher_is_better=True)
    best = places.eq(places.min(axis=1), axis=0) & scores.notna()
    columns: dict[str, Sequence[Any]] = {"ranker": [c.labels[each] for each in order]}
    columns |= {str(dataset): numbers(scores.loc[dataset], score) for dataset in datasets}
    marks = {str(dataset): ["best" if each else "" for each in best.loc[dataset]] for dataset in datasets}
    title = c.measures["best_f1"].title[0].upper() + c.measures["best_f1"].title[1:]
    return table(
        f"{own}-matrix", f"{title} of every ranker on every data set, the best marked", columns, classes=marks
    )


def _results(c: Comparison, own: str) -> Markup:
    lines = c.summary[c.summary["complete"]].to_dict("records")
    places = tied_ranks(c.scores["best_f1"], higher_is_better=True)
    columns = {
        "data set": [line["dataset"] for line in lines],
        "ranker": [c.labels[line["ranker"]] for line in lines],
        "max F1": [number(line["best_f1_micro_mean"], _plus_minus(line, "best_f1_micro")) for line in lines],
        "at features": numbers((line["best_f1_micro_at"] for line in lines), "{:g}".format),
        "place": numbers((places.at[line["dataset"], line["ranker"]] for line in lines), "{:g}".format),
        "AUrF1": numbers((line["aurf1_micro_mean"] for line in lines), score),
        "F1, all features": numbers((line["f1_micro_all_mean"] for line in lines), score),
        "seconds": [
            number(line["fit_seconds_mean"], seconds(line["fit_seconds_mean"], line["fit_seconds_sd"]))
            for line in lines
        ],
        "MiB": numbers((line["peak_memory_mib_max"] for line in lines), "{:.0f}".format),
        "latent dimension": numbers((line["latent_dimension"] for line in lines), "{:g}".format),
    }
    columns = {c.group.kind.said(title): cells for title, cells in columns.items()}
    caption = "Every data set and ranker that is complete: mean over folds ± standard deviation"
    return table(f"{own}-all", caption, columns, empty="No ranker is complete on any data set.")


def _plus_minus(line: Mapping[str, Any], name: str) -> str:
    sd = line[f"{name}_sd"]
    return score(line[f"{name}_mean"]) + ("" if math.isnan(sd) else f" ± {sd:.3f}")


def _pairs(c: Comparison, own: str, *, named: bool) -> Markup:
    untested = c.untested
    if untested == NOT_ASKED and not named:
        untested = f"only a study with a name is tested ({program('report')} study=NAME)"
    lines = [] if c.posterior is None else list(c.posterior.table.itertuples())
    columns: dict[str, Sequence[Any]] = {
        "first": [c.labels[line.ranker_a] for line in lines],
        "second": [c.labels[line.ranker_b] for line in lines],
        "first better": numbers((line.p_a for line in lines), probability),
        "practically equal": numbers((line.p_rope for line in lines), probability),
        "second better": numbers((line.p_b for line in lines), probability),
        "data sets": numbers((line.n_datasets for line in lines), "{:.0f}".format),
        "R̂": numbers((line.r_hat for line in lines), "{:.4f}".format),
        "effective draws": numbers((line.ess for line in lines), "{:.0f}".format),
        "note": [line.message or "" for line in lines],
    }
    empty = f"No pair was tested{f': {untested}' if untested else ''}."
    caption = "All pairs, by the hierarchical Bayesian test: probabilities"
    return table(f"{own}-pairs-table", caption, columns, empty=empty)


def _best_features(c: Comparison, own: str) -> Markup:
    shown = c.best_features[c.best_features["place"] <= _BEST_FEATURES]
    columns = {
        "data set": shown["dataset"],
        "ranker": [c.labels[each] for each in shown["ranker"]],
        "place": numbers(shown["place"], "{:g}".format),
        "feature": [str(each) for each in shown["feature"]],
        "share of folds": numbers(shown["chosen"], percent),
        "mean rank": numbers(shown["mean_rank"], "{:.1f}".format),
        "mean weight": numbers(shown["mean_weight"], "{:.4g}".format),
        "folds": numbers(shown["n_folds"], "{:.0f}".format),
    }
    return table(f"{own}-best", "Features that are most often among the first 20", columns)


#: Columns of stability: name of the number, heading.
_STABILITY = (("aufuji", "AUFUJI"), *((phi(top), f"Φ, top {top}") for top in TOPS))


def _mean_stability(c: Comparison, own: str) -> Markup:
    columns: dict[str, Sequence[Any]] = {"ranker": [c.labels[each] for each in c.rankers]}
    over = {}
    for column, title in _STABILITY:
        means = averages(stability_table(c.stability, column))
        over[title] = means.attrs["datasets"]
        columns[title] = numbers(means.set_index("ranker")["mean"].reindex(c.rankers), score)
    used = "; ".join(f"{title}: {sentences.listed(names) or 'none'}" for title, names in over.items())
    return table(f"{own}-stable", f"Mean stability over the data sets that all share ({used})", columns)


def _stability(c: Comparison, own: str) -> Markup:
    lines = [line for line in c.stability.to_dict("records") if not line["reason"]]

    def interval(line: Mapping[str, Any], top: int) -> Markup:
        value, lower, upper = (line[f"{phi(top)}{end}"] for end in ("", "_lower", "_upper"))
        text = score(value) + ("" if math.isnan(lower) else f" [{lower:.3f}, {upper:.3f}]")
        return number(value, text + (" *" if line[f"tied_top_{top}"] else ""))

    columns = {
        "data set": [line["dataset"] for line in lines],
        "ranker": [c.labels[line["ranker"]] for line in lines],
        "AUFUJI": numbers((line["aufuji"] for line in lines), score),
        **{f"Φ, top {top}": [interval(line, top) for line in lines] for top in TOPS},
        "folds": [
            number(line["n_folds"], f"{line['n_folds']} of {line['n_folds'] + line['folds_without']}")
            for line in lines
        ],
    }
    empty = "No ranker is complete, with weights, on any data set."
    return table(f"{own}-stability-table", "Stability on every data set", columns, empty=empty)


def _missing(c: Comparison, own: str) -> Markup:
    lines = list(c.missing.itertuples())
    states = {"running": "running", **BAD_STATUSES, "missing": "missing"}
    columns = {
        "data set": [line.dataset for line in lines],
        "ranker": [c.labels[line.ranker] for line in lines],
        "state": [states.get(line.state, "not available") for line in lines],
        "reason": [line.reason for line in lines],
    }
    caption = "Not complete, so not compared"
    return table(f"{own}-missing-table", caption, columns, empty="Everything is complete.")


def _failures(c: Comparison, own: str) -> Markup:
    lines = list(c.failures.itertuples())
    columns = {
        "data set": [line.dataset for line in lines],
        "ranker": [c.labels[line.ranker] for line in lines],
        "state": [f"{BAD_STATUSES[line.status]}; {when_again(line.status, line.limited)}" for line in lines],
        "folds": numbers((line.folds for line in lines), "{:.0f}".format),
        "first": [line.first for line in lines],
        "error": [line.error for line in lines],
    }
    caption = "Folds that failed or were stopped"
    return table(f"{own}-failures", caption, columns, empty="No fold failed or was stopped.")


def _measured(
    frame: pd.DataFrame, configs: Sequence[Mapping[str, Any]], unmeasured: Sequence[str], drawn: Sequence[Any]
) -> list[Section]:
    asked = [config for config in configs if config["protocol"].get("measure")]
    if not asked:
        return []
    protocols = sorted({config["protocol"]["name"] for config in asked})
    datasets = {config["dataset_key"] for config in asked}
    rows = frame[frame["protocol"].isin(protocols)]
    done = rows[(rows["status"] == "ok") & rows["dataset"].isin(datasets)]
    lines = list(measurements.summary(rows).itertuples())
    columns = {
        "data set": [line.dataset for line in lines],
        "ranker": [line.ranker for line in lines],
        "repeat": numbers((line.repeat for line in lines), "{:.0f}".format),
        "result": [line.result for line in lines],
    }
    about = (
        f"{count(len(done), 'result')} on {done['dataset'].nunique()} of {count(len(datasets), 'data set')} "
        f"(protocol {', '.join(protocols)}); all samples of a data set were used at once."
    )
    made = table("measurements", "Results of all measurements", columns, empty="Nothing is measured yet.")
    figures = [_figure(each) for each in drawn]
    return [Section("measured", "Measurements", about, figures, [made], unmeasured)]


def _claims(claims: pd.DataFrame | None) -> list[Section]:
    if claims is None or not len(claims):
        return []
    lines, verdicts = for_people(claims), claims.to_dict("records")
    columns = {
        "claim": lines["claim"],
        "it holds where": lines["reading"],
        **{f"on {where}": lines[where] for where in SCOPES},
        "numbers": lines["numbers"],
        "in the paper": lines["place"],
    }
    classes = {
        f"on {where}": [_VERDICTS.get(line[name], "open") for line in verdicts]
        for where, (name, _) in SCOPES.items()
    }
    caption = "What the paper says, checked on these rows"
    return [
        Section(
            "claims",
            "The paper's claims",
            counted(claims),
            tables=[table("claims-table", caption, columns, classes=classes)],
        )
    ]


def _commands(study: str | None, arguments: Sequence[str]) -> list[str]:
    kept = [each for each in arguments if not each.startswith("paths.")]
    kept = kept or ([f"study={study}"] if study else [])
    return [" ".join([program(action), *map(shlex.quote, kept)]) for action in ("run", "report")]


def _provenance(
    frame: pd.DataFrame, configs: Sequence[Mapping[str, Any]], comparisons: Sequence[Comparison]
) -> Section:
    asked = [(c["dataset_key"], c["protocol"]["name"], c["ranker_key"]) for c in configs]
    rows = pd.DataFrame(asked, columns=PAIR).drop_duplicates().merge(frame, on=PAIR, how="inner")
    machines, versions = provenance.machines(rows), provenance.versions(rows)
    settings = provenance.settings(rows)
    several = versions.loc[versions["package"].duplicated(keep=False), "package"].unique()
    warnings = [
        f"These rows come from {len(machines)} kinds of machines: their times may not be comparable."
        if len(machines) > 1
        else "",
        f"Several versions were used of: {', '.join(several)}." if len(several) else "",
    ]

    def frame_table(name: str, caption: str, frame: pd.DataFrame) -> Markup:
        columns = {
            title: numbers(cells, "{:,.6g}".format) if cells.dtype.kind in "if" else cells.astype(str)
            for title, cells in frame.items()
        }
        return table(name, caption, columns)

    titles = {
        "n_threads": "threads of a fit",
        "time_limit_seconds": "time limit, s",
        "memory_limit_mib": "memory limit, MiB",
    }
    tables = [
        frame_table("machines", "Machines", machines),
        frame_table("settings", "Seeds, threads and limits", settings.rename(columns=titles)),
        frame_table("versions", "Versions that decide numbers", versions),
        *(
            table(
                f"sampling-{place}",
                "How posteriors were sampled",
                {
                    "setting": list(c.posterior.sampling),
                    "value": [str(v) for v in c.posterior.sampling.values()],
                },
            )
            for place, c in enumerate(comparisons)
            if c.posterior is not None
        ),
    ]
    return Section("provenance", "Provenance", tables=tables, lines=[line for line in warnings if line])
