"""Show what a study has so far, from the rows on disk; runs nothing. Takes the arguments of run.py."""

import sys

from experiments.cli.main import report as main

if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
