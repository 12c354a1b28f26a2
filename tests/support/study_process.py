"""A study in a process of its own, as ``run.py`` would run it, with cheap rankers; to be killed by the tests.

``python -m study_process RESULTS '{"n_repeats": 2, …}'``; see :data:`SETTINGS`.
"""

import json
import resource
import sys

import cheap

from experiments.errors import BadInputError
from experiments.execution.runner import run_study

SETTINGS = {
    "names": "abc",  # one ranker each
    "function": "logged",  # of ``cheap``
    "ranker": {},  # its settings; "{name}" in a text is the ranker's name
    "n_repeats": 4,
    "dataset": {},  # settings of ``cheap.blobs``
    "launcher": {"n_workers": 2},
    "in_process": False,
    "file_size": None,  # no file may grow past so many bytes
}


def main(results, settings):
    """Run; prints the counts as JSON."""
    settings = {**SETTINGS, **json.loads(settings)}
    if settings["file_size"]:
        resource.setrlimit(resource.RLIMIT_FSIZE, (settings["file_size"],) * 2)
    configs = [
        cheap.config(
            results,
            cheap.function(
                settings["function"],
                **{
                    key: value.replace("{name}", name) if isinstance(value, str) else value
                    for key, value in settings["ranker"].items()
                },
            ),
            ranker_key=name,
            n_repeats=settings["n_repeats"],
            dataset=settings["dataset"],
            launcher=settings["launcher"],
        )
        for name in settings["names"]
    ]
    try:
        result = run_study(configs, in_process=settings["in_process"])
    except BadInputError as error:
        print(f"error: {error}", file=sys.stderr)
        return 2
    except KeyboardInterrupt:
        return 130
    print(json.dumps(vars(result.counts)))
    return result.exit_code


if __name__ == "__main__":
    sys.exit(main(*sys.argv[1:]))
