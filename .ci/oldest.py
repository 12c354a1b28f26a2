"""Print the lower bounds of the library's requirements, as constraints for pip: ``numpy==1.26`` and so on."""

import re
import tomllib
from pathlib import Path

PROJECT = Path(__file__).resolve().parents[1] / "pyproject.toml"

for line in tomllib.loads(PROJECT.read_text(encoding="utf-8"))["project"]["dependencies"]:
    name, version = re.fullmatch(r"([\w-]+)>=([\d.]+)", line).groups()
    print(f"{name}=={version}")
