"""Environments of the peers: a venv each, with fixed versions."""

from __future__ import annotations

import subprocess
import sys
import venv
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
# The paper's package asks for a file that is not in every copy of it, so what it needs is named here.
PACKAGES = {
    "fast_select": [["fast-select==0.3.0"]],
    "paper": [
        ["numpy", "scipy", "numba", "scikit-learn", "umap-learn", "tqdm"],
        ["--no-deps", "reliefe==0.18"],
    ],
}


def python_of(folder):
    """Return the Python of an environment."""
    return Path(folder) / ("Scripts/python.exe" if sys.platform == "win32" else "bin/python")


def make(folder):
    """Make an environment for each peer that needs one in ``folder``; other versions come from constraints.txt."""
    for peer, steps in PACKAGES.items():
        place = Path(folder) / peer
        print(f"making {place}", flush=True)
        venv.create(place, with_pip=True, clear=False)
        for packages in steps:
            command = [str(python_of(place)), "-m", "pip", "install", "--quiet"]
            command += ["--disable-pip-version-check", "-c", str(ROOT / "constraints.txt"), *packages]
            subprocess.run(command, check=True)
