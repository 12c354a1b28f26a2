"""A study in a process of its own, as ``run.py`` would run it, with cheap rankers; to be killed by the tests."""

import json
import sys

import cheap

from experiments.runner import run_study


def main(results, log, n_repeats, seconds, n_workers):
    """Three rankers; prints the counts as JSON."""
    configs = [
        cheap.config(
            results,
            cheap.function("logged", log=f"{log}.{name}", seconds=float(seconds)),
            ranker_key=name,
            n_repeats=int(n_repeats),
        )
        for name in ("a", "b", "c")
    ]
    try:
        result = run_study(configs, n_workers=int(n_workers))
    except KeyboardInterrupt:
        return 130
    print(json.dumps(vars(result.counts)))
    return result.exit_code


if __name__ == "__main__":
    sys.exit(main(*sys.argv[1:]))
