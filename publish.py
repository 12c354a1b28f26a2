"""Make the published results from the rows in results/published, or collect these rows (see CONTRIBUTING.md)."""

from __future__ import annotations

import argparse
import os
import sys
from pathlib import Path

from experiments.cli.main import installed
from experiments.errors import BadInputError
from experiments.printing import prepare_output

_ACTIONS = """
python publish.py                     tables, figures and pages, and the numbers in README.md and docs/results.md
python publish.py texts               only these numbers
python publish.py collect [FOLDER]    copy finished cells of a results folder (default: results)
python publish.py datasets            note again what the data sets of these rows hold (rows/datasets.json)
"""


def main(argv: list[str]) -> int:
    """Publish; 0 = done, 2 = bad input."""
    prepare_output()
    if not installed("publish"):
        return 2
    parser = argparse.ArgumentParser(
        prog="publish.py",
        description=f"{__doc__}\n{_ACTIONS}",
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    parser.add_argument("action", nargs="?", choices=["all", "texts", "collect", "datasets"], default="all")
    parser.add_argument("folder", nargs="?", default="results", type=Path)
    parser.add_argument(
        "--local-data",
        metavar="FOLDER",
        default=os.environ.get("RELIEFE_LOCAL_DATA"),
        help="where the data sets lie, for collect and datasets",
    )
    parser.add_argument(
        "--times",
        metavar="FOLDER",
        type=Path,
        help="a results folder of runs that had the machine for themselves: only its times are published",
    )
    given = parser.parse_args(argv)
    try:
        from experiments.cli import publish, published_texts

        if given.action == "collect":
            times = None if given.times is None else given.times.absolute()
            counts = publish.collect(given.folder.absolute(), given.local_data, times=times)
            for name, (done, wanted) in counts.items():
                print(f"{name}: {done} of {wanted} cells")
            return 0
        if given.action == "datasets":
            print(f"{publish.note_datasets(given.local_data)} data sets of published rows are known")
            return 0
        if given.action == "all":
            checked, files = publish.claims(sys.stdout)
            for name in publish.studies():
                publish.show(name, sys.stdout, checked=checked)
            for file in files:
                print(f"written: {file}")
        for file in published_texts.write_texts():
            print(f"written: {file}")
        return 0
    except BadInputError as error:
        print(f"error: {error}", file=sys.stderr)
        return 2


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
