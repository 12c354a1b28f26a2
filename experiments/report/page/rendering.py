"""Template, script and style sheet → one HTML file that needs no network."""

from __future__ import annotations

import base64
import hashlib
import json
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from jinja2 import Environment, FileSystemLoader, StrictUndefined

from experiments.paths import write_whole

#: The script of a page that has sortable tables and nothing else.
START_TABLES = (
    'document.documentElement.classList.add("scripted");\n'
    'for (const table of document.querySelectorAll("table.sortable")) sortable(table);\n'
)

_HERE = Path(__file__).resolve().parent


def write_page(path: Path, template: str, scripts: Sequence[str], *, data: Any = None, **values: Any) -> Path:
    """Write a page."""
    pieces = [_text(each) if each.endswith(".js") else each for each in scripts]
    script = '(() => {\n"use strict";\n' + "\n".join(pieces) + "})();\n"
    digest = base64.b64encode(hashlib.sha256(script.encode()).digest()).decode("ascii")
    environment = Environment(
        loader=FileSystemLoader(_HERE), autoescape=True, undefined=StrictUndefined, trim_blocks=False
    )
    page = environment.get_template(template).render(
        **values,
        css=_text("page.css"),
        script=script,
        script_hash=f"sha256-{digest}",
        data=_json({} if data is None else data),
    )
    return write_whole(path, page.encode("utf-8", "backslashreplace"))


def _text(name: str) -> str:
    return (_HERE / name).read_text(encoding="utf-8")


def _json(data: Any) -> str:
    # Inside a script element only these could end it or be taken for markup.
    packed = json.dumps(data, ensure_ascii=True, allow_nan=False, separators=(",", ":"))
    return packed.replace("<", "\\u003c").replace(">", "\\u003e").replace("&", "\\u0026")
