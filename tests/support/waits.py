"""No test waits for ever, and Ctrl-C reaches the programs that tests start."""

import signal
import threading
from contextlib import contextmanager

import pytest


def heed_interrupts():
    """Take SIGINT as usual, also where a shell has started the tests in the background: it makes them ignore it.

    What is ignored is ignored in all programs that are started from here, and tests that interrupt them would wait.
    """
    if signal.getsignal(signal.SIGINT) == signal.SIG_IGN:
        signal.signal(signal.SIGINT, signal.default_int_handler)


@contextmanager
def bounded(seconds, what):
    """Fail when the block takes longer; does nothing on a system without such alarms, or in another thread."""
    if not hasattr(signal, "setitimer") or threading.current_thread() is not threading.main_thread():
        yield
        return

    def too_long(number, frame):
        pytest.fail(f"{what} was stopped after {seconds:g} s")

    before = signal.signal(signal.SIGALRM, too_long)
    left, _ = signal.setitimer(signal.ITIMER_REAL, seconds)
    try:
        yield
    finally:
        signal.setitimer(signal.ITIMER_REAL, left)
        signal.signal(signal.SIGALRM, before)
