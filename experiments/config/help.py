"""What ``run.py`` prints instead of running: the help page, and composed configurations."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from experiments.config.catalog import files
from experiments.tasks import REGRESSION

#: What the page calls the groups, in the order it shows them; the others have one choice each.
_TITLES = {
    "study": "Studies",
    "dataset": "Data sets",
    "ranker": "Rankers",
    "target_distance": "Target distances, for multi-label rankers",
    "protocol": "Protocols",
}

_USAGE = """\
usage: python run.py [study=NAME] [key=value ...] [status] [--config-dir FOLDER] [--cfg job] [--help]

Ranks the features of data sets, evaluates the rankings fold by fold, and shows a table and a curve.
Finished cells are kept: the same command again runs what is missing. Lists run everything, as one study."""

_EXAMPLES = """\
Keys
  study=NAME                                 data sets × rankers under a protocol; other keys change it
  dataset=NAME  ranker=NAME  protocol=NAME   what to run; several names: dataset=wine,digits
  target_distance=NAME                       multi-label; relieff_f1 is short for ranker=relieff target_distance=f1
  ranker.PARAMETER=VALUE                     any parameter of the ranker: ranker.n_neighbors=5,15
  ranker._target_=package.module.Class       a ranker of your own (fit, then feature_importances_,
                                             scores_, coef_ or ranking_)
  also=NAME  also._target_=…  also.KEY=VALUE  a ranker added to those of the study, or of ranker=
  protocol.n_splits  .n_repeats  .grid_points  .max_rows  .learner.PARAMETER  .multilabel_learner.PARAMETER
                     .regression_learner.PARAMETER
  dataset.path=FILE dataset.target=COLUMN    data of your own, with dataset=csv and the like; [a,b] = labels
  dataset.task=regression                    the target is a number (R², RReliefF)
  dataset.groups=COLUMN  dataset.folds=FILE  samples that stay together in folds; or the fold of each sample
  paths.local_data=FOLDER                    folder of the data files
  paths.results=FOLDER                       folder for rows, tables and figures
  launcher.n_workers=N                       worker processes (default: one per core); launcher=dask, launcher=slurm
  launcher.time_limit_seconds=S              limit for one fit of a ranker; also .memory_limit_mib=M
  seed=N
  status                                     show the progress of the study; runs nothing
  --config-dir FOLDER                        YAML files of your own: FOLDER/dataset/NAME.yaml and the like

Examples
  python run.py
  python run.py study=smoke
  python run.py study=mcc dataset=chess,madelon status
  python run.py dataset=medical ranker=relieff_f1,reliefe_f1
  python run.py dataset=digits ranker=reliefe_absmean_adaptive,relieff,mutual_information
  python run.py dataset=optdigits,chess ranker=relieff,reliefe paths.local_data=FOLDER
  python run.py dataset=wine ranker=relieff ranker.n_neighbors=5,10,15 protocol=paper
  python run.py dataset=csv dataset.path=my.csv dataset.target=label ranker=relieff
  python run.py ranker=reliefe --cfg job     print the composed configuration and stop"""


def help_text(folders: Sequence[Path], groups: Sequence[str]) -> str:
    """Write the help page.

    Read from the files as text, without composing them, so that the page is there at once.

    Parameters
    ----------
    folders : sequence of Path
        Folders with the groups; ``config.yaml`` lies in the first.
    groups : sequence of str
        Groups to list.

    Returns
    -------
    str
    """
    defaults = _defaults(folders[0] / "config.yaml")
    sections = [_USAGE]
    for group in [each for each in _TITLES if each in groups]:
        lines = [f"{_TITLES[group]} ({group}=…)"]
        listed = files(folders, group)
        width = max(map(len, listed), default=0)
        for name, path in listed.items():
            mark = " (default)" if defaults.get(group) == name else ""
            lines.append(f"  {name:<{width}}  {_describe(group, path)}{mark}")
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


def _size_made(text: str) -> dict[str, str]:
    """Return how many samples and features a data set made on the spot has, as far as its YAML file states them."""
    settings = dict(
        re.findall(r"^\s+(n_rows|order|n_informative|n_redundant|n_noise):\s*(\d+)\s*$", text, flags=re.M)
    )
    rows = settings.pop("n_rows", None)
    size = {} if rows is None else {"rows": rows}
    if "synthetic.friedman1" in text:
        settings["n_informative"], settings["n_redundant"] = "5", "0"
    if set(settings) in ({"order", "n_noise"}, {"n_informative", "n_redundant", "n_noise"}):
        size["features"] = str(sum(map(int, settings.values())))
    return size


def _describe(group: str, path: Path) -> str:
    text = path.read_text(encoding="utf-8")
    if group == "dataset":
        expected = re.search(r"^expected:(.*(?:\n[ \t].*)*)", text, flags=re.M)
        size = dict(re.findall(r"(rows|features|classes):\s*(\d+)", expected[1] if expected else ""))
        if re.search(r"datasets\.(own|plink)\.", text) and "path: null" in text:
            return text.partition("\n")[0].lstrip("# ").partition(": ")[0]
        place = "bundled" if "datasets.bundled." in text else "local file"
        if "datasets.synthetic." in text:
            place, size = "made on the spot", _size_made(text) | size
        if re.search(r"^\s*(-\s+)?(download:|_target_: .*openml)", text, flags=re.M):
            place = "local file or download"
        task = "".join(re.findall(r"^task:\s*(\w+)", text, flags=re.M))
        kind = "labels" if task == "multilabel" else "classes"
        held = "a numeric target" if task == REGRESSION else f"{size.get('classes', '?')} {kind}"
        if not size.keys() >= {"rows", "features"} or "?" in held:
            return place
        return f"{size['rows']} samples × {size['features']} features, {held}; {place}"
    if group in ("study", "target_distance"):
        return text.partition("\n")[0].lstrip("# ")
    if group == "protocol":
        values = dict(re.findall(r"^(n_splits|n_repeats|grid_points):\s*(\d+)", text, flags=re.M))
        if "measure" in dict(re.findall(r"^(\w+):(.*)$", text, flags=re.M)):
            return text.partition("\n")[0].lstrip("# ")
        return "{n_splits} folds × {n_repeats} repeats, {grid_points} points on the curve".format(
            **{"n_splits": "?", "n_repeats": "?", "grid_points": "?", **values}
        )
    shown_name = re.search(r"^display_name:\s*(.+)$", text, flags=re.M)
    target = re.search(r"^_target_:\s*(\S+)", text, flags=re.M)
    return f"{shown_name[1] if shown_name else ''}: {target[1] if target else ''}"
