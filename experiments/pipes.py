"""Output whose reader may leave early: ``… | head``."""

from __future__ import annotations

import errno
import io
import os
import sys


class _Patient(io.FileIO):
    """A file descriptor that forgets what nobody reads any more.

    Disk full and the like are errors still.
    """

    def write(self, data) -> int:
        try:
            return super().write(data)
        except OSError as error:
            if error.errno != errno.EPIPE:
                raise
            # For everything else that writes there too, such as processes that begin later.
            nowhere = os.open(os.devnull, os.O_WRONLY)
            os.dup2(nowhere, self.fileno())
            os.close(nowhere)
            return memoryview(data).nbytes


def outlive_readers() -> None:
    """Let this process finish its work when whoever reads its output goes away.

    Python ignores SIGPIPE and raises ``BrokenPipeError`` instead, in the middle of a study, and once more at the
    very end. From here on what is written to a closed pipe is dropped: the work goes on, and the exit code is that
    of the work. Only standard output and standard error as they came are changed, not what a notebook, a test or a
    user's program has put in their place.
    """
    for name in ("stdout", "stderr"):
        stream = getattr(sys, name)
        if stream is None or stream is not getattr(sys, f"__{name}__"):
            continue
        buffer = getattr(stream, "buffer", None)
        raw = getattr(buffer, "raw", buffer)  # `python -u` has no buffer in between
        if not isinstance(raw, io.FileIO) or isinstance(raw, _Patient):  # a console of Windows knows no pipes
            continue
        patient = _Patient(raw.fileno(), "w", closefd=False)
        try:
            stream.flush()
        except BrokenPipeError:
            pass  # `patient` will meet the same pipe, and what was to be said is lost anyhow
        made = io.TextIOWrapper(
            patient if buffer is raw else io.BufferedWriter(patient),
            encoding=stream.encoding,
            errors=stream.errors,
            line_buffering=stream.line_buffering,
            write_through=stream.write_through,
        )
        made.mode = "w"  # as sys.stdout has it
        setattr(sys, name, made)
