"""The contract that any ranker can be put through: each rule broken once."""

import os
import re
import signal
import subprocess
import sys
import threading
import time
from contextlib import closing

import breakers
import numpy as np
import programs
import pytest
from folders import SEARCH_PATH
from studies import patient

from experiments.cli.check_ranker import main
from experiments.config.compose import PROJECT_ROOT
from experiments.errors import ConfigError
from experiments.rankers.contract import CHECKS, Outcome, check
from experiments.rankers.contract_checks import run_check
from experiments.rankers.isolation import Limits, SubprocessFitter

pytestmark = pytest.mark.usefixtures("forked_fitters")


def own(name):
    return {"_target_": f"{breakers.MODULE}.{name}"}


def found(name, *only):
    return {each.check: each for each in check(own(name), only=only or None)}


@pytest.fixture(scope="module")
def first_tries():
    with closing(SubprocessFitter(Limits())) as fitter:
        yield fitter


#: Those that end the process they are in, and one that differs between processes.
APART = ("Exits", "Interrupts", "LeavesAtOnce", "Crashes", "ExitsOfOneClass", "ByTheOrderOfASet")


@pytest.fixture
def outcome_of(first_tries):
    """Run one check: here, which saves a process a test, or as a whole in another process."""

    def run(name, which):
        if name in APART:
            return found(name, which)[which]
        return Outcome(which, *run_check(which, own(name), first_tries)[:2])

    return run


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
        ("OneShort", "weights", r"shape \(9,\) for 10 features.*one finite real number per feature"),
        ("NotANumber", "weights", "not finite"),
        ("Complex", "weights", "complex"),
        ("GivesNone", "weights", r"has feature_importances_, but it is None after fit; feature_imp"),
        ("Empty", "weights", r"nor ranking_ after fit; feature_importances_ \(or"),
        ("Texts", "weights", "hold text, such as"),
        ("Masked", "weights", "1 of them are masked"),
        ("Named", "weights", "under the labels 'f0', 'f1', 'f2', …, which do not say what features"),
        ("Exits", "weights", "SystemExit: 0; a ranker must not end the program"),
        ("Interrupts", "weights", "KeyboardInterrupt; a ranker must not end the program"),
        ("LeavesAtOnce", "weights", "ended itself with exit code 0; a ranker must not end the program"),
        ("Crashes", "weights", "its process was ended by signal SIGSEGV"),
        ("ExitsOfOneClass", "one class", "SystemExit"),
        ("Unseeded", "seed", "take random_state"),
        ("ByTheClock", "seed", "nothing from the clock"),
        ("Remembers", "seed", "an earlier fit leaves a trace"),
        ("ByTheOrderOfASet", "fold", "two fresh processes give one seed two results"),
        ("ByThreads", "threads", "n_jobs changes the weights"),
        ("OtherWhenSparse", "sparse", "other weights than the same data stored dense"),
        ("FailsWhenSparse", "sparse", "AxisError|input_tags.sparse"),
        ("TwoClassesInSilence", "classes", "3 classes: AssertionError"),
        ("Labels", "labels", "several labels per sample: IndexError"),
        ("FailsOnNegative", "negative", "IndexError.*raise a ValueError"),
        ("ChangesRows", "input", "X is changed in place"),
        ("ChangesClasses", "input", "y is changed in place"),
        ("Remembers", "fold", "other samples: after an earlier fit"),
        ("FirstForEver", "fold", "other samples: after an earlier fit"),
        ("PeeksAtLabels", "fold", "the same samples with other labels: after an earlier fit"),
        ("Prints", "quiet", "prints 'fitting'"),
        ("PrintsFromBelow", "quiet", "prints 'fitting'"),
        ("SeedsNumpy", "global state", "numpy's global generator"),
        ("DrawsFromPython", "global state", "Python's global generator"),
        ("HoldsALambda", "pickle", "no lambdas"),
        ("NeedsManyRows", "few samples", "four samples: IndexError"),
        ("DividesBySpread", "constant", "2 of 10 weights that are not finite.*give them a finite weight"),
        ("DiesOfOneClass", "one class", "ended itself with exit code 3"),
        ("Wordless", "one class", "without a word"),
    ],
)
def test_each_rule_broken_once(name, broken, says, outcome_of):
    outcome = outcome_of(name, broken)
    assert outcome.state == "failed"
    assert re.search(says, outcome.said), outcome.said


@pytest.mark.parametrize("hash_seed", ["0", "1", "2"])
def test_the_order_of_a_set_is_found_where_every_process_has_the_same_hash_seed(
    hash_seed, monkeypatch, outcome_of
):
    monkeypatch.setenv("PYTHONHASHSEED", hash_seed)
    says = "two fresh processes give one seed two results"
    test_each_rule_broken_once("ByTheOrderOfASet", "fold", says, outcome_of)


@pytest.mark.parametrize(
    ("name", "which"),
    [("Unseeded", ("sparse", "threads")), ("ByTheClock", ("fold",)), ("Remembers", ("sparse",))],
)
def test_two_fits_are_not_compared_where_one_seed_gives_two_results(name, which):
    outcomes = found(name, *which)
    for each in which:
        assert (outcomes[each].state, "see seed" in outcomes[each].said) == ("not judged", True), outcomes


@pytest.mark.parametrize(
    ("name", "which", "state", "says"),
    [
        ("LowIsGood", "direction", "doubtful", "larger must mean more relevant"),
        ("spread", "fold", "passed", "no trace"),
        ("RefusesSparse", "sparse", "not applicable", "sparse rows are not taken"),
        ("TakesSparse", "sparse", "passed", "weights of dense data"),
        ("TwoClasses", "classes", "not applicable", "3 classes are refused"),
        ("TakesLabels", "labels", "passed", "several labels"),
        ("NotNegative", "negative", "not applicable", "negative values are not taken"),
        ("spread", "threads", "not applicable", "no parameter n_jobs"),
    ],
)
def test_what_is_no_breach(name, which, state, says, outcome_of):
    outcome = outcome_of(name, which)
    assert (outcome.state, says in outcome.said) == (state, True), outcome


def test_one_fault_has_one_diagnosis():
    states = {each.check: each.state for each in check(own("Unseeded"))}
    assert [name for name, state in states.items() if state == "failed"] == ["seed"]
    assert {name for name, state in states.items() if state == "not judged"} == {"threads", "sparse", "fold"}


def test_what_does_not_come_back_has_failed_and_the_next_check_goes_on():
    """In a fit, for which there is a limit of time, and where it is made."""
    for name, seconds in (("Hangs", 2), ("HangsOfOneClass", 15)):
        broken = "weights" if name == "Hangs" else "one class"
        began = time.monotonic()
        outcomes = {each.check: each for each in check(own(name), only=[broken, "negative"], seconds=seconds)}
        assert time.monotonic() - began < patient(120)
        assert outcomes[broken].state == "failed" and outcomes[broken].said.startswith(
            f"no answer within {seconds} s"
        )
        assert outcomes["negative"].state == ("not applicable" if name == "Hangs" else "passed")


@pytest.mark.parametrize("name", ["Exits", "Interrupts", "LeavesAtOnce", "Crashes"])
def test_whatever_a_ranker_does_the_command_says_so_and_ends_with_1(name, capfd):
    assert main([f"{breakers.MODULE}.{name}"]) == 1
    lines = capfd.readouterr().out.splitlines()
    assert lines[0].split()[:2] == ["failed", "weights"] and len(lines) == len(CHECKS) + 1
    assert lines[-1].endswith(f"0 passed, 1 failed, {len(CHECKS) - 1} not applicable")


def test_lines_come_one_by_one(tmp_path):
    """While the second check waits, the first one's line is there."""
    command = [sys.executable, str(PROJECT_ROOT / "run.py"), "check-ranker", f"{breakers.MODULE}.HangsSecond"]
    path = SEARCH_PATH
    with programs.start(
        [*command, f"flag={tmp_path / 'flag'}", "--time-limit", "600"],
        env={**os.environ, "PYTHONPATH": path},
        stdout=subprocess.PIPE,
        text=True,
    ) as run:
        unless_in_time = threading.Timer(300, run.kill)
        unless_in_time.start()
        try:
            assert run.stdout.readline().split()[:2] == ["passed", "weights"]
            assert run.poll() is None
            run.send_signal(signal.SIGINT)
            assert run.wait(300) == 130
        finally:
            run.kill()
            unless_in_time.cancel()


def test_without_weights_there_is_nothing_else_to_check():
    outcomes = found("Complex", "seed")
    assert outcomes["seed"].state == "not applicable"


def test_the_caller_s_streams_and_generators_are_back_afterwards(capfd):
    np.random.seed(3)  # noqa: NPY002
    found("Prints", "quiet")
    print("here")
    assert capfd.readouterr().out == "here\n"


def test_command_line(capsys):
    assert main([f"{breakers.MODULE}.NotNegative"]) == 0
    lines = capsys.readouterr().out.splitlines()
    assert len(lines) == len(CHECKS) + 1
    assert lines[-1].startswith("NotNegative: ") and lines[-1].endswith(
        "14 passed, 0 failed, 2 not applicable"
    )
    assert main([f"{breakers.MODULE}.Keeps", "random_state=3", "n_job=2"]) == 2
    assert "did you mean n_jobs" in capsys.readouterr().err


@pytest.mark.parametrize(
    ("argv", "says"),
    [
        (["relieff", "--time-limit=soon"], "number of seconds above 0, .* not 'soon'"),
        (["relieff", "--time-limit"], "number of seconds above 0"),
        ([f"{breakers.MODULE}.ExitsWhenMade"], "cannot be made: SystemExit: 0"),
        (["exits_when_imported.f"], "importing exits_when_imported fails: SystemExit: 0"),
        (["n_neighbors=5"], "needs the name of a ranker"),
        (["reliev"], "did you mean relieff"),
        (["relieff", "n_neighbors=5,10"], "one ranker at a time"),
        (["relieff", "status"], "takes a ranker and its parameters"),
    ],
)
def test_slips_are_answered(argv, says, capsys, tmp_path, monkeypatch):
    (tmp_path / "exits_when_imported.py").write_text("import sys\nsys.exit(0)\n")
    monkeypatch.syspath_prepend(tmp_path)
    assert main(argv) == 2
    assert re.search(says, capsys.readouterr().err)


def test_from_a_folder_of_one_s_own(tmp_path):
    (tmp_path / "mine.py").write_text(
        "import numpy as np\n\ndef score(X, y):\n    return np.random.default_rng().random(X.shape[1])\n"
    )
    run = programs.run(
        [sys.executable, str(PROJECT_ROOT / "run.py"), "check-ranker", "mine.score"],
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
