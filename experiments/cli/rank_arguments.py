"""What is typed after ``rank``, and messages of readers in the words of its options."""

from __future__ import annotations

import argparse
import csv
import io
import re
import shlex
from collections.abc import Sequence
from typing import Any

from experiments.datasets.names import EXCHANGE
from experiments.datasets.table import KINDS, Layout
from experiments.errors import ConfigError, meant
from experiments.programs import program

#: Key of a data set, as messages of readers have it → option.
_OPTIONS = {
    "target": "--target",
    "leave_out": "--leave-out",
    "nominal": "--categories",
    "na_values": "--na-values",
    "skip_lines": "--skip-rows",
    "delimiter": "--delimiter",
    "decimal": "--decimal",
    "encoding": "--encoding",
    "sheet": "--sheet",
    "kind": "--as",
    "keep": "--keep",
    "groups": "--groups",
}
_SETTING = re.compile(
    r"(?P<mark>[\"'])?dataset\.(?P<key>\w+)"
    r"(?:=(?P<value>\[(?:'(?:\\.|[^'\\])*'|[^\[\]'])*\]|'(?:\\.|[^'\\])*'|[^\s;:,)?\"]+))?"
    r"(?(mark)(?P=mark))"
)
#: What a message says of lines and columns of a table; settings, paths and what is in quotation marks pass.
_LINES = re.compile(
    r"dataset\.\w+=(?:\[(?:'(?:\\.|[^'\\])*'|[^\[\]'])*\]|\S+)|--[a-z-]+[ =](?:'[^']*'|\S+)"
    r"|(?<!\w)'(?:\\.|[^'\\])*'|(?<!\w)\"[^\"]*\"|(?<=, )line (?P<number>\d+)"
    r"|(?<![\w./\\-])(?P<noun>column|row)(?P<many>s?)(?![\w/\\-]|[._]\w)"
)
_PART = re.compile(r"'((?:\\.|[^'\\])*)'|([^,]+)")

_EXAMPLES = """examples:
  {rank} my.csv --target class
  {rank} genes.tsv.gz --target tumour --transpose
  {rank} my.xlsx --sheet patients --target 'age at onset' --ranker relieff
  {rank} my.csv --target red,round            (several columns of 0 and 1: labels)

A name that begins with a dash is typed with an equals sign: --target=-x. A name may be replaced by its place, from
0 (-1 is the last column); 'number 1' is the first column too. The page docs/rank-your-table.md describes the
output."""


class _Parser(argparse.ArgumentParser):
    """Parser whose errors are those of the project, with near names of options."""

    def error(self, message: str) -> Any:
        unknown = re.match(r"unrecognized arguments: (\S+)", message)
        hint = ""
        if unknown:
            options = [option for action in self._actions for option in action.option_strings]
            hint = meant(unknown[1].partition("=")[0], options)
        raise ConfigError(f"{message}{hint}\nall options: {program('rank')} --help")


def parser() -> argparse.ArgumentParser:
    """Make the parser of the command line."""
    made = _Parser(
        prog=program("rank"),
        description="Rank the features of a table: names, weights, how sure they are, and how many to keep.",
        epilog=_EXAMPLES.replace("{rank}", program("rank")),
        formatter_class=argparse.RawDescriptionHelpFormatter,
        allow_abbrev=False,
    )
    made.add_argument("file", metavar="FILE", help="CSV, TSV, ARFF (also .gz, .bz2, .xz), XLSX or Parquet")
    many: dict[str, Any] = {"action": "append", "default": []}
    add = made.add_argument
    add(
        "--target",
        metavar="NAME",
        **many,
        help="the class column; several (a,b or repeated) are labels of 0 and 1",
    )
    add("--as", dest="kind", choices=KINDS, default="auto", help="what the target holds (default: found out)")
    add(
        "--ranker",
        metavar="NAME",
        help="multisurf, relieff, reliefe, surf, … (default: chosen by size and target)",
    )
    add("--transpose", action="store_true", help="the file has a line for each feature (genes × samples)")
    add("--keep", metavar="NAME", **many, help="a feature, although it looks like names of samples")
    add("--leave-out", metavar="NAME", **many, help="no feature")
    add("--categories", metavar="NAME", **many, help="its values are names although they look like numbers")
    add("--groups", metavar="NAME", help="no feature: samples with one value of it belong together")
    add(
        "--na-values",
        metavar="WORDS",
        help="words that mean a missing value in place of the usual ones: NA,-999",
    )
    add("--encoding", metavar="NAME", help="of a text file, such as cp1252 (default: UTF-8)")
    add("--delimiter", metavar="CHAR", help="between cells: a character, or tab, semicolon, comma")
    add("--decimal", metavar="CHAR", default=".", help="decimal point of numbers, . or ,")
    add("--skip-rows", metavar="N", type=_number(0), help="lines at the top that are no part of the table")
    add("--sheet", metavar="NAME", help="of a spreadsheet, by name or number from 1")
    add("--folds", metavar="N", type=_number(2), default=10, help="of the selection curve (default: 10)")
    add(
        "--repeats",
        metavar="N",
        type=_number(1),
        help="of these folds (default: 3; 1 for more than 5000 samples)",
    )
    add(
        "--permutations",
        metavar="N",
        type=_number(0),
        help="of each feature, for p and q, at most (default: 1000, more for many features; 0: none)",
    )
    add(
        "--budget",
        metavar="SECONDS",
        type=_number(1),
        default=60,
        help="predicted time of the permutations at most; decides from how many samples p is (default: 60)",
    )
    add(
        "--subsamples",
        metavar="N",
        type=_number(0),
        default=100,
        help="halves of the samples, for stability (default: 100; 0: none)",
    )
    add("--seed", metavar="N", type=_number(0), default=0, help="of everything that is drawn (default: 0)")
    add("--jobs", metavar="N", type=_number(1), help="cores (default: all; numbers do not depend on it)")
    add("--out", metavar="DIR", help="folder for the results (default: results/rank/NAME of the file)")
    return made


def _number(least: int) -> Any:
    def number(text: str) -> int:
        value = int(text) if re.fullmatch(r"\d+", text) else -1
        if value < least:
            raise argparse.ArgumentTypeError(f"a whole number from {least} on, not {text!r}")
        return value

    return number


def layout_of(arguments: argparse.Namespace) -> Layout:
    """Gather how the file is to be read."""
    words = arguments.na_values
    return Layout(
        transpose=arguments.transpose,
        na_values=None if words is None else tuple(each.strip() for each in _cells(words) if each.strip()),
        encoding=arguments.encoding,
        delimiter=arguments.delimiter,
        sheet=arguments.sheet,
        decimal=arguments.decimal,
        skip_rows=arguments.skip_rows,
    )


def _cells(words: str) -> list[str]:
    """Take words apart at commas; one with a comma in it is in double quotation marks."""
    return next(csv.reader([words], skipinitialspace=True), [])


def _line(words: Sequence[str]) -> str:
    written = io.StringIO()
    csv.writer(written, lineterminator="").writerow(words)
    return written.getvalue()


def option(name: str, value: str) -> str:
    """Write an option and its value as a shell takes them, whatever the value begins with.

    Parameters
    ----------
    name : str
        Such as ``"--keep"``.
    value : str
        Any text.

    Returns
    -------
    str
    """
    return shlex.quote(f"{name}={value}") if value.startswith("-") else f"{name} {shlex.quote(value)}"


def command(words: Sequence[str]) -> str:
    """Write the command as it can be typed again.

    Parameters
    ----------
    words : sequence of str
        What was typed after ``rank``.

    Returns
    -------
    str
    """
    return " ".join([program("rank"), *map(shlex.quote, words)])


def in_own_words(message: str, transposed: bool = False) -> str:
    """Put options in place of the keys of a data set, quoted as a shell takes them.

    Parameters
    ----------
    message : str
        Of a reader, such as ``leave it out: dataset.leave_out=['my column']``.
    transposed : bool
        Whether lines of the file became columns: then places are named the other way round.

    Returns
    -------
    str
        Such as ``leave it out: --leave-out 'my column'``.
    """

    def replaced(found: re.Match[str]) -> str:
        name = _OPTIONS.get(found["key"])
        if name is None:
            return found[0]
        value = found["value"]
        if value is None:
            return name
        tail = ""
        if value[0] not in "['" and value[-1] in ".,":
            value, tail = value[:-1], value[-1]
        values = _values(value)
        if name == "--na-values":
            return option(name, _line(values)) + tail
        return " ".join(option(name, each) for each in values) + tail

    message = message.replace("dataset.task=regression", "dataset.kind=numbers")
    message = message.replace(EXCHANGE, "leave --transpose out" if transposed else "type --transpose")
    return _SETTING.sub(replaced, turned(message) if transposed else message)


def turned(message: str) -> str:
    """Say of a file with a line for each feature what was said of the table that was made of it.

    Parameters
    ----------
    message : str
        Of a table in which lines are samples.

    Returns
    -------
    str
        Lines of the table are columns, and the other way round. What is in quotation marks stays.
    """

    def other(found: re.Match[str]) -> str:
        if found["number"]:
            return f"column {found['number']}"
        if found["noun"] is None:
            return found[0]
        return ("line" if found["noun"] == "column" else "column") + found["many"]

    return _LINES.sub(other, message)


def _values(text: str) -> list[str]:
    if text.startswith("[") and text.endswith("]"):
        text = text[1:-1]
    return [
        re.sub(r"\\(.)", r"\1", quoted) if quoted or not plain else plain
        for quoted, plain in _PART.findall(text)
    ]
