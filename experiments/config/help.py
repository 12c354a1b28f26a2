"""What ``run.py`` prints instead of running: the help page, and composed configurations."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

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


def help_text(files: Mapping[str, Mapping[str, Path]], defaults: Sequence[Any]) -> str:
    """Write the help page: a line for each YAML file, with its size, its target, or its first comment."""
    chosen = {key: name for each in defaults if isinstance(each, dict) for key, name in each.items()}
    sections = [_USAGE]
    for group, title in _TITLES.items():
        lines, width = [f"{title} ({group}=…)"], max(map(len, files[group]), default=0)
        for name, path in files[group].items():
            mark = " (default)" if chosen.get(group) == name else ""
            lines.append(f"  {name:<{width}}  {_describe(group, path)}{mark}")
        sections.append("\n".join(lines))
    return "\n\n".join([*sections, _EXAMPLES])


def _describe(group: str, path: Path) -> str:
    import yaml

    text = path.read_text(encoding="utf-8")
    first = text.partition("\n")[0]
    try:
        block = yaml.load(text, getattr(yaml, "CSafeLoader", yaml.SafeLoader))
    except yaml.YAMLError:
        return "cannot be read as YAML"
    if group == "ranker":
        return f"{block.get('display_name', '')}: {block.get('_target_', '')}"
    size = block.get("expected") or {} if group == "dataset" else {}
    if {"rows", "features"} <= set(size):
        kind = "labels" if block.get("task") == "multilabel" else "classes"
        target = f"{size['classes']} {kind}" if "classes" in size else "a numeric target"
        return f"{size['rows']} samples × {size['features']} features, {target}"
    return first.lstrip("# ") if first.startswith("#") else ""


def shown_configs(configs: Sequence[Mapping[str, Any]]) -> str:
    """Write composed configurations as YAML, one document each."""
    from omegaconf import OmegaConf

    return "---\n".join(OmegaConf.to_yaml(OmegaConf.create(dict(config))) for config in configs).rstrip("\n")
