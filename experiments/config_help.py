"""What ``run.py`` prints: the help page, and composed configurations."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

#: What the page calls the groups, in the order it shows them; the others have one choice each.
_TITLES = {"dataset": "Data sets", "ranker": "Rankers", "protocol": "Protocols"}

_USAGE = """\
usage: python run.py [key=value ...] [--cfg job] [--help]

Ranks the features of data sets, evaluates the rankings fold by fold, and shows a table and a curve.
Finished cells are kept: the same command again runs what is missing. Lists run everything, as one study."""

_EXAMPLES = """\
Keys
  dataset=NAME  ranker=NAME  protocol=NAME   what to run; several names: dataset=wine,digits
  ranker.PARAMETER=VALUE                     any parameter of the ranker: ranker.n_neighbors=5,15
  ranker._target_=package.module.Class       a ranker of your own (fit, then feature_importances_ or scores_)
  protocol.n_splits  .n_repeats  .grid_points  .learner.PARAMETER
  paths.local_data=FOLDER                    where data files lie
  paths.results=FOLDER                       where rows, tables and figures go
  launcher.n_workers=N                       worker processes (default: one per core)
  seed=N

Examples
  python run.py
  python run.py dataset=digits ranker=reliefe_absmean_adaptive,relieff,mutual_information
  python run.py dataset=optdigits,chess ranker=relieff,reliefe paths.local_data=FOLDER
  python run.py dataset=wine ranker=relieff ranker.n_neighbors=5,10,15 protocol=paper
  python run.py ranker=reliefe --cfg job     print the composed configuration and stop"""


def names(conf: Path, group: str) -> list[str]:
    """Names of the YAML files of a group, sorted.

    Parameters
    ----------
    conf : Path
        Folder with the groups.
    group : str
        Such as ``"ranker"``.

    Returns
    -------
    list of str
    """
    return sorted(path.stem for path in (conf / group).glob("*.yaml"))


def help_text(conf: Path, groups: Sequence[str]) -> str:
    """Write the help page.

    Read from the files as text, without composing them, so that the page is there at once.

    Parameters
    ----------
    conf : Path
        Folder with the groups.
    groups : sequence of str
        Groups to list.

    Returns
    -------
    str
    """
    defaults = _defaults(conf / "config.yaml")
    sections = [_USAGE]
    for group in groups:
        if group not in _TITLES:
            continue
        lines = [f"{_TITLES[group]} ({group}=…)"]
        listed = names(conf, group)
        width = max(map(len, listed), default=0)
        for name in listed:
            mark = " (default)" if defaults.get(group) == name else ""
            lines.append(f"  {name:<{width}}  {_describe(group, conf / group / f'{name}.yaml')}{mark}")
        sections.append("\n".join(lines))
    return "\n\n".join([*sections, _EXAMPLES])


def shown(configs: Sequence[Mapping[str, Any]]) -> str:
    """Write composed configurations as YAML, one document each.

    Parameters
    ----------
    configs : sequence of ResolvedConfig
        The runs.

    Returns
    -------
    str
    """
    from omegaconf import OmegaConf

    return "---\n".join(OmegaConf.to_yaml(OmegaConf.create(dict(config))) for config in configs).rstrip("\n")


def _defaults(path: Path) -> dict[str, str]:
    return dict(
        re.findall(r"^\s*-\s*(\w+):\s*(\w+)\s*$", path.read_text(encoding="utf-8"), flags=re.MULTILINE)
    )


def _describe(group: str, path: Path) -> str:
    text = path.read_text(encoding="utf-8")
    if group == "dataset":
        size = re.search(
            r"^expected:.*?rows:\s*(\d+).*?features:\s*(\d+).*?classes:\s*(\d+)", text, re.M | re.S
        )
        place = "local file" if "local_file" in text else "bundled"
        return f"{size[1]} rows × {size[2]} columns, {size[3]} classes; {place}" if size else place
    if group == "protocol":
        values = dict(re.findall(r"^(n_splits|n_repeats|grid_points):\s*(\d+)", text, flags=re.M))
        return "{n_splits} folds × {n_repeats} repeats, {grid_points} points on the curve".format(
            **{"n_splits": "?", "n_repeats": "?", "grid_points": "?", **values}
        )
    shown_name = re.search(r"^display_name:\s*(.+)$", text, flags=re.M)
    target = re.search(r"^_target_:\s*(\S+)", text, flags=re.M)
    return f"{shown_name[1] if shown_name else ''}: {target[1] if target else ''}"
