"""Where the project and its tests lie, and where programs that the tests start look for modules."""

import os
from pathlib import Path

PROJECT_ROOT = Path(__file__).resolve().parents[2]
TESTS = PROJECT_ROOT / "tests"
#: Numbers that tests compare with.
DATA = TESTS / "data"
#: The project and these helpers, as PYTHONPATH takes it.
SEARCH_PATH = os.pathsep.join([str(PROJECT_ROOT), str(TESTS / "support")])
