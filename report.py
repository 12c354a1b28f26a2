"""Show what a study has so far, from the rows on disk; runs nothing. Takes the arguments of run.py."""

import os
import sys

from experiments.errors import BadInputError


def main(argv: list[str]) -> int:
    """Show one study; 0 = shown, 2 = bad input."""
    sys.path.append(os.getcwd())  # as in run.py
    try:
        from experiments.config import compose_runs

        plan = compose_runs(argv)
        if plan.action in ("help", "show"):
            print(plan.text.replace("run.py", "report.py"))
            return 0
        from experiments import report, runner

        result = runner.collect_study(plan.configs, skip_absent="study" in plan.configs[0])
        counts = result.counts
        print(f"{counts.missing} of {counts.cells} cells missing or failed; nothing is run here")
        for each in result.set_aside:
            print(f"set aside, not read as data: {each.moved_to}: {each.reason}")
        paths, more = plan.configs[0]["paths"], {"absent": result.absent, "whole": True, "arguments": argv}
        report.show(result.frame, plan.configs, paths, sys.stdout, **more)
        return 0
    except BadInputError as error:
        print(f"error: {error}", file=sys.stderr)
        return 2


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
