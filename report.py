"""Show what a study has so far, from the rows on disk; runs nothing. Takes the arguments of run.py."""

import sys

from experiments.cli.main import main

if __name__ == "__main__":
    sys.exit(main(["report", *sys.argv[1:]]))
