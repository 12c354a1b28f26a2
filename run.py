"""Rank features of data sets, evaluate the rankings, show a table and a curve: ``python run.py --help``."""

import sys

from experiments.cli.main import main

if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
