"""What programs print, under every encoding: characters that it lacks are written with those that it has."""

from __future__ import annotations

import codecs
import sys

#: Name of the error handler, for ``str.encode`` and text files.
READABLE = "reliefe-readable"

#: Characters that messages, tables and help pages use → how they are written in ASCII.
_IN_ASCII = {
    "×": "x",
    "±": "+-",
    "∓": "-+",
    "−": "-",
    "–": "-",
    "—": "-",
    "·": "-",
    "•": "*",
    "…": "...",
    "→": "->",
    "←": "<-",
    "≤": "<=",
    "≥": ">=",
    "≈": "~",
    "√": "sqrt ",
    "∞": "inf",
    "²": "^2",
    "³": "^3",
    "½": "1/2",
    "‘": "'",
    "’": "'",
    "“": '"',
    "”": '"',
    "\u00a0": " ",
    "α": "alpha",
    "β": "beta",
    "δ": "delta",
    "ε": "epsilon",
    "η": "eta",
    "μ": "mu",
    "µ": "mu",
    "ν": "nu",
    "ρ": "rho",
    "σ": "sigma",
    "χ": "chi",
    "─": "-",
    "━": "-",
    "│": "|",
}
#: How Python sets up standard streams by itself; whoever asked for anything else has it.
_STOCK = ("strict", "surrogateescape", "backslashreplace")


def _replaced(error: UnicodeError) -> tuple[str, int]:
    if not isinstance(error, UnicodeEncodeError):
        raise error
    text = error.object[error.start : error.end]
    written = []
    for character in text:
        told = _IN_ASCII.get(character)
        written.append(character.encode("ascii", "backslashreplace").decode() if told is None else told)
    return "".join(written), error.end


codecs.register_error(READABLE, _replaced)


def readable(text: str, encoding: str | None) -> str:
    r"""Write text with the characters of an encoding.

    Parameters
    ----------
    text : str
        Any, names of files with bytes that are no text included.
    encoding : str or None
        As a text file states it; None or an unknown one stands for UTF-8.

    Returns
    -------
    str
        Characters that the encoding lacks are in ASCII: the usual ones as people write them (``×`` as ``x``), all
        others as Python does (``é`` as ``\xe9``), so that two names never become one.
    """
    try:
        return text.encode(encoding or "utf-8", READABLE).decode(encoding or "utf-8")
    except LookupError:
        return text.encode("utf-8", READABLE).decode("utf-8")


def prepare_output() -> None:
    """Set up standard output and standard error of a program; called first, once a process.

    What an encoding lacks is written as :func:`readable` does, instead of ending the program with a
    ``UnicodeEncodeError`` (code pages such as cp1252, ``LC_ALL=C``). Streams that a notebook, a test or a
    user's program has put in their place stay as they are, and so does an error handler that was asked for, as in
    ``PYTHONIOENCODING=ascii:replace``.
    """
    for name in ("stdout", "stderr"):
        stream = getattr(sys, name)
        if stream is not None and stream is getattr(sys, f"__{name}__") and stream.errors in _STOCK:
            stream.reconfigure(errors=READABLE)
