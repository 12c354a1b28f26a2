"""What a person would have seen of a study, and its rows as text."""

import io

import numpy as np

from experiments.execution.progress import PlainProgress
from experiments.schema import ROW_SCHEMA

#: Columns that may differ between two runs of the same cell.
VOLATILE_COLUMNS = (
    "dataset",
    "ranker",
    "protocol",
    "fit_seconds",
    "warm_up_seconds",
    "learner_seconds",
    "peak_memory_mib",
    "n_threads",
    "phase_seconds",
    "versions",
    "machine",
    "time_limit_seconds",
    "memory_limit_mib",
    "learner_way",
    "top_names",
)
LASTING = [name for name in ROW_SCHEMA.names if name not in VOLATILE_COLUMNS]


class Listening(PlainProgress):
    """Remembers what a person would have seen."""

    def __init__(self):
        super().__init__(io.StringIO())

    @property
    def text(self):
        return self._stream.getvalue()

    @property
    def lines(self):
        return self.text.splitlines()


def text_of(frame):
    """The lasting columns of rows as text, exact to the bit, in a fixed order."""
    rows = []
    for row in frame[LASTING].to_dict("records"):
        rows.append(
            repr(
                {
                    key: value.tolist() if isinstance(value, np.ndarray) else value
                    for key, value in row.items()
                }
            )
        )
    return sorted(rows)
