"""What rankers become on a data set with a numeric target: the same ranker, set to numbers.

Nothing here knows rankers of the library by name: one that has a parameter ``target`` is told "regression". Of
scikit-learn, a classifier makes way for the regressor of its kind. What has no counterpart stays as it is, and is
refused before anything runs (:mod:`experiments.rankers.refusals`).
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from experiments.errors import ConfigError
from experiments.locate import locate, parameter_names

#: Parameter that says what a target holds, by the package of its estimators → its value for numbers.
_TOLD = {"reliefe": ("target", "regression"), "skrebate": ("label_type", "continuous")}

#: Functions and classes without a counterpart of a related name.
_COUNTERPARTS = {
    "sklearn.feature_selection.f_classif": "sklearn.feature_selection.f_regression",
    "sklearn.feature_selection.mutual_info_classif": "sklearn.feature_selection.mutual_info_regression",
    "experiments.rankers.scores.anova_f": "experiments.rankers.scores.linear_f",
    "experiments.rankers.scores.ForestPermutation": "experiments.rankers.scores.ForestPermutationOfNumbers",
}
#: How a classifier measures impurity; the regressor's own default takes its place.
_OF_CLASSES = {"criterion": ("gini", "entropy", "log_loss"), "loss": ("log_loss", "exponential")}
#: Names to show that would be wrong.
_SHOWN = {"ANOVA F": "F of linear regression"}


def for_numbers(ranker: Mapping[str, Any]) -> dict[str, Any]:
    """Set a ranker to a numeric target.

    Parameters
    ----------
    ranker : mapping
        A block of ``conf/ranker``.

    Returns
    -------
    dict
        The block of the ranker for numbers, or the same where there is none. What is typed for it stays.
    """
    block = _told(ranker)
    target = str(block["_target_"])
    counterpart = _counterpart(target)
    if counterpart is not None:
        block["_target_"] = counterpart
        names, any_name = parameter_names(locate(counterpart))
        block = {
            key: value
            for key, value in block.items()
            if (key.startswith("_") or key == "display_name" or key in names or any_name)
            and value not in _OF_CLASSES.get(key, ())
        }
    shown = block.get("display_name")
    if isinstance(shown, str):
        block["display_name"] = _renamed(shown, block != dict(ranker))
    return block


def _renamed(shown: str, changed: bool) -> str:
    """Name a ranker by what it has become: RReliefF is what its authors call ReliefF for numbers."""
    if not changed:
        return shown
    for old, new in _SHOWN.items():
        shown = shown.replace(old, new)
    return shown if "RReliefF" in shown else shown.replace("ReliefF", "RReliefF")


def _told(block: Mapping[str, Any]) -> dict[str, Any]:
    """Tell an estimator, and those that it fits, that the target is a number."""
    made = {
        key: _told(value) if isinstance(value, Mapping) and "_target_" in value else value
        for key, value in block.items()
    }
    target = str(block["_target_"])
    parameter, value = _TOLD.get(target.partition(".")[0], ("", ""))
    if parameter and made.get(parameter) is None and parameter in _parameters(target):
        made[parameter] = value
    return made


def _counterpart(target: str) -> str | None:
    if target in _COUNTERPARTS:
        return _COUNTERPARTS[target]
    if not target.startswith("sklearn.") or not target.endswith("Classifier"):
        return None
    regressor = target.removesuffix("Classifier") + "Regressor"
    try:
        locate(regressor)
    except ConfigError:
        return None
    return regressor


def _parameters(target: str) -> list[str]:
    try:
        return parameter_names(locate(target))[0]
    except ConfigError:  # a run says what is wrong with it
        return []
