"""What keeps the tests from waiting for ever."""

import os
import signal
import subprocess
import sys
import time

import pytest
from folders import SEARCH_PATH
from waits import bounded

posix = pytest.mark.skipif(os.name != "posix", reason="no such signals on this system")

IGNORED = """
import signal, subprocess, sys
signal.signal(signal.SIGINT, signal.SIG_IGN)  # as for "command &" in a script
import waits
if sys.argv[1] == "heeded":
    waits.heed_interrupts()
child = "import signal; print(signal.getsignal(signal.SIGINT) is signal.default_int_handler)"
subprocess.run([sys.executable, "-c", child], check=True)
"""


@posix
@pytest.mark.parametrize(("case", "interruptible"), [("heeded", "True"), ("as started", "False")])
def test_programs_that_tests_start_can_be_interrupted(case, interruptible):
    done = subprocess.run(
        [sys.executable, "-c", IGNORED, case],
        env={**os.environ, "PYTHONPATH": SEARCH_PATH},
        capture_output=True,
        text=True,
        timeout=120,
    )
    assert (done.returncode, done.stdout.strip()) == (0, interruptible), done.stderr


@posix
def test_a_wait_without_end_fails():
    with subprocess.Popen(
        [sys.executable, "-c", "import time; time.sleep(600)"], stdout=subprocess.PIPE
    ) as child:
        try:
            began = time.monotonic()
            with pytest.raises(pytest.fail.Exception, match=r"this one was stopped after 0.3 s"):
                with bounded(0.3, "this one"):
                    child.stdout.readline()
            assert time.monotonic() - began < 300
        finally:
            child.kill()


@posix
def test_the_bound_of_the_whole_test_holds_after_one_of_a_part():
    seconds, _ = signal.getitimer(signal.ITIMER_REAL)
    assert seconds > 60
    with bounded(5, "a part"):
        assert 0 < signal.getitimer(signal.ITIMER_REAL)[0] <= 5
    assert 60 < signal.getitimer(signal.ITIMER_REAL)[0] <= seconds
