"""Put measured tables and plots into ``docs/performance.md``, between its markers.

Run from the project root: ``python benchmarks/page.py FOLDER [FOLDER …]`` with the folders that ``peers.py`` and
``embedding_pays.py`` wrote. Where two folders have the same workload, the later one counts; what none of them has
stays as it stands on the page.
"""

from __future__ import annotations

import re
import shutil
import sys
from pathlib import Path

from experiments.printing import prepare_output

ROOT = Path(__file__).resolve().parents[1]
PAGE = ROOT / "docs" / "performance.md"


def main(folders):
    """Fill in the page; returns the exit code."""
    goals, machines = standing()
    pays = None
    for folder in map(Path, folders):
        text = (folder / "results.md").read_text(encoding="utf-8") if (folder / "results.md").exists() else ""
        head = next((line for line in text.splitlines() if "commit" in line), "")
        found = {}
        for line in section(text, "Goals"):
            found.setdefault(line.split("|")[1].strip(), []).append(line)
        goals |= found
        machines |= dict.fromkeys(found, head)
        if (folder / "growth.png").exists():
            shutil.copy(folder / "growth.png", PAGE.parent / "performance-growth.png")
        if (folder / "embedding_pays.md").exists():
            pays = (folder / "embedding_pays.md").read_text(encoding="utf-8")
            shutil.copy(folder / "embedding_pays.png", PAGE.parent / "performance-embedding.png")
    table = ["| workload | what | goal | measured (round by round) | met |", "|---|---|---|---|---|"]
    table += [line for lines in goals.values() for line in lines]
    notes = []
    for head in dict.fromkeys(machines.values()):
        names = ", ".join(name for name in goals if machines[name] == head)
        notes.append(f"- {names}: {head}")
    fill("goals", "\n".join([*table, "", *notes]))
    if pays is not None:
        body = [line for line in pays.splitlines() if not line.startswith("# ")]
        fill("embedding", "\n".join(body).strip())
    return 0


def standing():
    """Return what the page has: rows of each workload, and the line that says how it was measured."""
    _, _, rest = PAGE.read_text(encoding="utf-8").partition("<!-- goals -->\n")
    goals, machines = {}, {}
    for line in rest.partition("<!-- /goals -->")[0].splitlines():
        if line.startswith("- "):
            names, _, head = line[2:].partition(": ")
            machines |= dict.fromkeys(names.split(", "), head)
        elif line.startswith("|") and not line.startswith(("| workload |", "|---")):
            goals.setdefault(line.split("|")[1].strip(), []).append(line)
    return goals, machines


def section(text, title):
    """Rows of the table under a heading."""
    found = re.search(rf"^## {title}\n(.*?)(?=^## |\Z)", text, flags=re.S | re.M)
    rows = [line for line in (found.group(1) if found else "").splitlines() if line.startswith("|")]
    return rows[2:]


def fill(name, content):
    """Replace what stands between the markers of ``name``."""
    page = PAGE.read_text(encoding="utf-8")
    pattern = rf"(<!-- {name} -->\n).*?(<!-- /{name} -->)"
    page, count = re.subn(pattern, lambda m: f"{m.group(1)}{content}\n{m.group(2)}", page, flags=re.S)
    if count != 1:
        raise SystemExit(f"{PAGE.name} has {count} places marked {name}")
    PAGE.write_text(page, encoding="utf-8")


if __name__ == "__main__":
    prepare_output()
    if len(sys.argv) < 2:
        raise SystemExit(__doc__)
    sys.exit(main(sys.argv[1:]))
