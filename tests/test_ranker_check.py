"""The contract that any ranker can be put through: each rule broken once."""

import os
import re
import subprocess
import sys

import breakers
import numpy as np
import pytest

from experiments.config import PROJECT_ROOT
from experiments.errors import ConfigError
from experiments.ranker_check import CHECKS, check
from experiments.rankers.__main__ import main


def own(name):
    return {"_target_": f"{breakers.MODULE}.{name}"}


def found(name, *only):
    return {each.check: each for each in check(own(name), only=only or None)}


@pytest.fixture(autouse=True)
def nothing_remembered():
    breakers._REMEMBERED.clear()


def test_a_ranker_that_keeps_to_everything_passes_every_check():
    outcomes = found("Keeps")
    assert list(outcomes) == list(CHECKS)
    states = {name: each.state for name, each in outcomes.items()}
    assert states.pop("labels") == "not applicable"
    assert set(states.values()) == {"passed"}, states


@pytest.mark.parametrize(
    ("name", "broken", "says"),
    [
        ("OneShort", "weights", r"shape \(9,\) for 10 columns.*one finite real number per column"),
        ("NotANumber", "weights", "not finite"),
        ("Complex", "weights", "complex"),
        ("Unseeded", "seed", "take random_state"),
        ("ByThreads", "threads", "n_jobs changes the weights"),
        ("OtherWhenSparse", "sparse", "other weights than the same rows stored dense"),
        ("FailsWhenSparse", "sparse", "AxisError|input_tags.sparse"),
        ("TwoClassesInSilence", "classes", "3 classes: AssertionError"),
        ("Labels", "labels", "several labels per row: IndexError"),
        ("FailsOnNegative", "negative", "IndexError.*raise a ValueError"),
        ("ChangesRows", "input", "X is changed in place"),
        ("ChangesClasses", "input", "y is changed in place"),
        ("Remembers", "fold", "other rows: after an earlier fit"),
        ("FirstForEver", "fold", "other rows: after an earlier fit"),
        ("PeeksAtLabels", "fold", "the same rows with other labels: after an earlier fit"),
        ("Prints", "quiet", "prints 'fitting'"),
        ("PrintsFromBelow", "quiet", "prints 'fitting'"),
        ("SeedsNumpy", "global state", "numpy's global generator"),
        ("DrawsFromPython", "global state", "Python's global generator"),
        ("HoldsALambda", "pickle", "no lambdas"),
        ("NeedsManyRows", "few rows", "four rows: IndexError"),
        ("DividesBySpread", "constant", "2 of 10 weights that are not finite.*give them a finite weight"),
        ("DiesOfOneClass", "one class", "ended itself with exit code 3"),
        ("Wordless", "one class", "without a word"),
    ],
)
def test_each_rule_broken_once(name, broken, says):
    outcome = found(name, broken)[broken]
    assert outcome.state == "failed"
    assert re.search(says, outcome.said), outcome.said


@pytest.mark.parametrize(
    ("name", "which", "state", "says"),
    [
        ("LowIsGood", "direction", "doubtful", "larger must mean more relevant"),
        ("spread", "fold", "passed", "no trace"),
        ("RefusesSparse", "sparse", "not applicable", "sparse rows are not taken"),
        ("TakesSparse", "sparse", "passed", "weights of dense ones"),
        ("TwoClasses", "classes", "not applicable", "3 classes are refused"),
        ("TakesLabels", "labels", "passed", "several labels"),
        ("NotNegative", "negative", "not applicable", "negative values are not taken"),
        ("spread", "threads", "not applicable", "no parameter n_jobs"),
    ],
)
def test_what_is_no_breach(name, which, state, says):
    outcome = found(name, which)[which]
    assert (outcome.state, says in outcome.said) == (state, True), outcome


def test_without_weights_there_is_nothing_else_to_check():
    outcomes = found("Complex", "seed")
    assert outcomes["seed"].state == "not applicable"


def test_the_caller_s_streams_and_generators_are_back_afterwards(capfd):
    np.random.seed(3)  # noqa: NPY002
    found("Prints", "quiet")
    print("here")
    assert capfd.readouterr().out == "here\n"


def test_command_line(capsys):
    assert main(["check", f"{breakers.MODULE}.NotNegative"]) == 0
    lines = capsys.readouterr().out.splitlines()
    assert len(lines) == len(CHECKS) + 1
    assert lines[-1].startswith("NotNegative: ") and lines[-1].endswith(
        "14 passed, 0 failed, 2 not applicable"
    )
    assert main(["check", f"{breakers.MODULE}.Keeps", "random_state=3", "n_job=2"]) == 2
    assert "did you mean n_jobs" in capsys.readouterr().err


@pytest.mark.parametrize(
    ("argv", "says"),
    [
        (["chekc", "relieff"], "did you mean check"),
        (["check"], "needs the name of a ranker"),
        (["check", "reliev"], "did you mean relieff"),
        (["check", "relieff", "n_neighbors=5,10"], "one ranker at a time"),
        (["check", "relieff", "status"], "takes a ranker and its parameters"),
    ],
)
def test_slips_are_answered(argv, says, capsys):
    assert main(argv) == 2
    assert says in capsys.readouterr().err


def test_from_a_folder_of_one_s_own(tmp_path):
    (tmp_path / "mine.py").write_text(
        "import numpy as np\n\ndef score(X, y):\n    return np.random.default_rng().random(X.shape[1])\n"
    )
    run = subprocess.run(
        [sys.executable, "-m", "experiments.rankers", "check", "mine.score"],
        cwd=tmp_path,
        env={**os.environ, "PYTHONPATH": str(PROJECT_ROOT)},
        capture_output=True,
        text=True,
        timeout=300,
    )
    assert run.returncode == 1, run.stderr
    assert next(line for line in run.stdout.splitlines() if line.startswith("failed")).split()[1] == "seed"


def test_one_that_cannot_be_made():
    with pytest.raises(ConfigError, match="no module named"):
        check({"_target_": "no.such.Ranker"})
