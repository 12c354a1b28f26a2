"""Rank features of data sets, evaluate the rankings, show a table and a curve: ``python run.py --help``."""

import os
import sys

from experiments.errors import BadInputError


def main(argv: list[str]) -> int:
    """Run one study; 0 = all folds fine, 1 = some fold failed, 2 = bad input, 130 = stopped by Ctrl-C."""
    sys.path.append(os.getcwd())  # a ranker of the user's own may lie where the command is typed
    try:
        from experiments.config import compose_runs

        plan = compose_runs(argv)
        if plan.action != "run":
            print(plan.text)
            return 0
        from experiments import report, runner

        result = runner.run_study(plan.configs)
        report.show(result.frame, plan.configs, plan.configs[0]["paths"], sys.stdout)
        return result.exit_code
    except BadInputError as error:
        print(f"error: {error}", file=sys.stderr)
        return 2
    except KeyboardInterrupt:  # the runner has said what is kept and how to go on
        return 130


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
