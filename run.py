"""Rank features of data sets, evaluate the rankings, show a table and a curve: ``python run.py --help``."""

import os
import sys

from experiments.errors import BadInputError


def main(argv: list[str]) -> int:
    """Run one study; 0 = all fine, 1 = a fold failed or a data set is not here, 2 = bad input, 130 = Ctrl-C."""
    sys.path.append(os.getcwd())  # a ranker of the user's own may lie where the command is typed
    try:
        from experiments.config import compose_runs

        plan = compose_runs(argv)
        if plan.action in ("help", "show"):
            print(plan.text)
            return 0
        from experiments import report, runner

        in_part = "study" in plan.configs[0]  # a named study runs with the data sets that are here
        if plan.action == "status":
            result = runner.collect_study(plan.configs, skip_absent=in_part)
            report.status.show(result, plan.configs, sys.stdout)
            return 0
        result = runner.run_study(plan.configs, skip_absent=in_part)
        # The page of a named study needs posteriors, which take minutes: that is for report.py.
        more = {"absent": result.absent, "whole": not in_part, "arguments": argv}
        report.show(result.frame, plan.configs, plan.configs[0]["paths"], sys.stdout, **more)
        return result.exit_code
    except BadInputError as error:
        print(f"error: {error}", file=sys.stderr)
        return 2
    except KeyboardInterrupt:  # the runner has said what is kept and how to go on
        return 130


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
