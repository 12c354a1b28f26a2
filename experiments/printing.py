"""Printing under every encoding: characters that an encoding lacks become question marks, not an error."""

from __future__ import annotations

import io
import sys


def readable(text: str, encoding: str | None) -> str:
    """Replace the characters that an encoding lacks; None and unknown encodings are UTF-8."""
    try:
        return text.encode(encoding or "utf-8", "replace").decode(encoding or "utf-8")
    except LookupError:
        return text.encode("utf-8", "replace").decode("utf-8")


def prepare_output() -> None:
    """Set up standard output, unless a test or ``PYTHONIOENCODING`` has; standard error never fails."""
    out = sys.stdout
    if (
        isinstance(out, io.TextIOWrapper)
        and out is sys.__stdout__
        and out.errors in ("strict", "surrogateescape")
    ):
        out.reconfigure(errors="replace")
