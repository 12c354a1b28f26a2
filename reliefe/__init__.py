"""Relief-family feature rankers for dense and sparse data, with scikit-learn's interface.

Importing this package loads nothing large; the rankers are loaded when they are first asked for.
"""

from importlib import import_module
from typing import TYPE_CHECKING

from reliefe import _forks as _forks  # has to be there before a fork

if TYPE_CHECKING:
    from reliefe import inspection
    from reliefe.reliefe import ReliefE
    from reliefe.relieff import ReliefF
    from reliefe.surf import SURF, MultiSURF, MultiSURFStar, SURFStar
    from reliefe.turf import TuRF
    from reliefe.vls import VLS

__version__ = "0.1.0"

__all__ = [
    "SURF",
    "VLS",
    "MultiSURF",
    "MultiSURFStar",
    "ReliefE",
    "ReliefF",
    "SURFStar",
    "TuRF",
    "__version__",
    "inspection",
]

_HOMES = {
    "MultiSURF": "reliefe.surf",
    "MultiSURFStar": "reliefe.surf",
    "ReliefE": "reliefe.reliefe",
    "ReliefF": "reliefe.relieff",
    "SURF": "reliefe.surf",
    "SURFStar": "reliefe.surf",
    "TuRF": "reliefe.turf",
    "VLS": "reliefe.vls",
}


if not TYPE_CHECKING:  # type checkers know the names above, and that there are no others

    def __getattr__(name):
        if name == "inspection":
            return import_module("reliefe.inspection")
        if name not in _HOMES:
            raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
        value = globals()[name] = getattr(import_module(_HOMES[name]), name)
        return value


def __dir__() -> list[str]:
    return sorted({*globals(), *__all__})
