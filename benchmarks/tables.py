"""Results as JSON and as Markdown."""

from __future__ import annotations

import json


def _number(value, digits=3):
    return "" if value is None else f"{value:.{digits}g}" if abs(value) < 1000 else f"{value:,.0f}"


def _seconds(value):
    return "" if value is None else f"{value:.4f}" if value < 1 else f"{value:,.2f}"


def _table(head, rows):
    lines = ["| " + " | ".join(head) + " |", "|" + "---|" * len(head)]
    lines += ["| " + " | ".join(str(cell).replace("|", "\\|") for cell in row) + " |" for row in rows]
    return "\n".join(lines)


def _met(value):
    return {True: "yes", False: "NO", None: "not measured"}[value]


def _goal_rows(goals, lead=()):
    for each in goals:
        sign = "≥" if each["at_least"] else "≤"
        spread = f" ({_number(each['least'])} to {_number(each['most'])})" if each.get("least") else ""
        yield [
            *lead,
            each["goal"],
            f"{sign} {_number(each['wanted'])}",
            _number(each["measured"]) + spread,
            _met(each["met"]),
        ]


def _agreement_row(each):
    if each.get("absent"):
        return [each["peer"], each["on"], "", "", "", "", f"not compared: {each['absent']}", each["reason"]]
    verdict = {True: "yes", False: "NO", None: "not expected"}[each["agrees"]]
    if each.get("problem"):
        verdict += f" ({each['problem']})"
    return [
        each["peer"],
        each["on"],
        "" if each["pearson"] is None else f"{each['pearson']:.6f}",
        "" if each["spearman"] is None else f"{each['spearman']:.6f}",
        "" if each["relative_difference"] is None else f"{each['relative_difference']:.1e}",
        "" if each["relative_difference_rescaled"] is None
        else f"{each['relative_difference_rescaled']:.1e} (x {each['best_factor']:.4g})",
        verdict + ("" if each["tolerance"] is None else f" (within {each['tolerance']:.0e})"),
        each["reason"],
    ]  # fmt: skip


def markdown(results):
    """Return the whole of the results as Markdown."""
    machine = results["machine"]
    lines = [
        "# Benchmarks",
        "",
        f"{machine['processor']}, {machine['cores']} cores, {machine['system']}, Python {machine['python']}; "
        f"{results['threads']} threads for every implementation; load before the start "
        f"{machine['load'] if machine['load'] is not None else 'unknown'}; commit {results['commit']}; "
        f"{results['date']}; {results['seconds']:.0f} s in all.",
        "",
        "## Goals",
        "",
        _table(
            ["workload", "what", "goal", "measured (round by round)", "met"],
            [row for name, each in results["workloads"].items() for row in _goal_rows(each["goals"], [name])],
        ),
    ]
    for name, each in results["workloads"].items():
        lines += ["", f"## {name}: {each['title']}", ""]
        lines += [f"- {what}: {said}" for what, said in each["data"].items()]
        lines += ["", _table(["", "median s", "least s", "most s", "runs", "warm-up s", ""], [
            [
                row["name"], _seconds(row["median_seconds"]), _seconds(row["least_seconds"]),
                _seconds(row["most_seconds"]), row["runs"], _seconds(row.get("warm_up_seconds")),
                f"ABSENT: {row['absent']}" if row["absent"] else _remark(row),
            ]
            for row in each["times"]
        ])]  # fmt: skip
        if each["agreement"]:
            head = ["weights of", "on", "Pearson", "Spearman", "max diff / max weight", "after rescaling",
                    "agree", "why"]  # fmt: skip
            lines += ["", _table(head, [_agreement_row(row) for row in each["agreement"]])]
        lines += ["", *[f"- {note}" for note in each["notes"]]]
        if each["versions"]:
            lines += [
                "",
                "Versions: "
                + "; ".join(
                    f"{who}: " + ", ".join(f"{package} {number}" for package, number in found.items())
                    for who, found in each["versions"].items()
                )
                + ".",
            ]
    return "\n".join(lines).rstrip() + "\n"


def _remark(row):
    notes = row.get("notes") or {}
    if "iterations" in notes and notes["iterations"] < notes["of"]:
        return f"{notes['iterations']} of {notes['of']} iterations taken, scaled to all"
    if notes.get("calls"):
        return "; ".join(", ".join(calls) for calls in notes["calls"])
    if notes.get("n_components") is not None:
        return f"{notes['n_components']} dimensions"
    return ""


def write(results, folder):
    """Write ``results.json`` and ``results.md`` into a folder."""
    folder.mkdir(parents=True, exist_ok=True)
    (folder / "results.json").write_text(json.dumps(results, indent=1) + "\n", encoding="utf-8")
    (folder / "results.md").write_text(markdown(results), encoding="utf-8")
