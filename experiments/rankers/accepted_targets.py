"""What a ranker takes: classes, labels, numbers."""

from __future__ import annotations

import functools
from collections.abc import Mapping
from typing import Any

#: Where score functions take one class per sample: in scikit-learn, and in what is made of it here.
_OF_CLASSES = ("sklearn.", "experiments.rankers.")

#: Of what predicts numbers.
NUMBERS = "takes numbers, not classes: their codes have no order (take the classifier of its kind)"

_OF_LABELS = (
    "relieff…, reliefe…, surf, multisurf, turf, vls, random_forest, and any whose scikit-learn tags say "
    "multi_output"
)


_OF_NUMBERS = (
    "relieff…, reliefe…, surf, multisurf, turf, vls, random_forest, gradient_boosting, permutation_importance, "
    "mutual_information, anova_f, and scikit-learn's regressors"
)
#: Packages whose rankers take classes unless they say that they take numbers.
_KNOWN = ("sklearn", "reliefe", "experiments", "fast_select", "skrebate")


def why_no_labels(built: Any) -> str:
    """Say why a ranker cannot take several labels per sample.

    scikit-learn's tags say who takes several targets at once. Estimators of others that compare label sets may show
    it by a parameter ``target_distance``. An object without tags, or a function from outside of scikit-learn and
    this project, is believed to know what to do.

    The rest of a sentence that begins with the ranker's name; empty when it takes labels.
    """
    of_ours = type(built).__module__.startswith("reliefe.")
    if not of_ours and hasattr(built, "get_params") and "target_distance" in built.get_params(deep=False):
        fits = True
    elif hasattr(built, "__sklearn_tags__"):
        tags = built.__sklearn_tags__()
        of_classifier = tags.classifier_tags
        fits = tags.target_tags.multi_output or (of_classifier is not None and of_classifier.multi_label)
    else:
        fits = not _module_of(built).startswith(_OF_CLASSES)
    if fits:
        return ""
    taken = "one number per sample" if why_no_classes(built) else "one class per sample"
    return f"takes {taken}, not labels (multi-label rankers: {_OF_LABELS})"


def why_no_classes(built: Any, n_classes: int | None = None) -> str:
    """Say why a ranker cannot take classes: it would take their codes for quantities.

    As :func:`why_no_labels`. With many classes (``n_classes``), skrebate would take them for numbers.
    """
    if settings := _regression_targets(built):
        return (
            f"takes numbers, not classes ({settings[0]}=regression); set ranker.{settings[0]}=classification"
        )
    if _is_regressor(built):
        return NUMBERS
    threshold = getattr(built, "multiclass_threshold", None)
    guesses = getattr(built, "label_type", "") is None
    if guesses and threshold is not None and n_classes is not None and n_classes > max(threshold, 2):
        return (
            f"would treat {n_classes} classes as a continuous target (more than multiclass_threshold={threshold}); "
            "set ranker.label_type=multiclass"
        )
    return ""


def why_no_numbers(built: Any) -> str:
    """Say why a ranker cannot take a numeric target: every number would be a class of its own.

    Estimators of this project's library say by their parameter ``target`` what they take, those of skrebate by
    ``label_type``, others by scikit-learn's tags, score functions of scikit-learn by their names. A ranker from
    outside of these that does not say what it takes is believed to know what to do.

    As :func:`why_no_labels`.
    """
    known = _module_of(built).partition(".")[0] in _KNOWN
    classes = f"takes classes, not numbers (rankers for a numeric target: {_OF_NUMBERS})"
    if getattr(getattr(built, "func", built), "takes_numbers", False) or _is_regressor(built):
        return ""
    if targets := _targets(built):
        wrong = [key for key, value in targets.items() if value != "regression"]
        if not wrong:
            return ""
        return (
            f"takes classes, not numbers ({wrong[0]}={targets[wrong[0]]}); set ranker.{wrong[0]}=regression"
        )
    if hasattr(built, "label_type") and _module_of(built).startswith("skrebate."):
        return "" if built.label_type == "continuous" else f"{classes}; set ranker.label_type=continuous"
    if callable(score := getattr(built, "score_func", None)):  # scikit-learn's SelectKBest and its kind
        return why_no_numbers(functools.partial(score))
    is_classifier = (
        hasattr(built, "__sklearn_tags__") and built.__sklearn_tags__().estimator_type == "classifier"
    )
    return classes if known or is_classifier else ""


def _regression_targets(built: Any) -> list[str]:
    """List parameters, also of a wrapped ranker, by which a Relief estimator is set to numbers."""
    return [key for key, value in _targets(built).items() if value == "regression"]


def _targets(built: Any) -> dict[str, str]:
    """Return the parameters, also of a wrapped ranker, by which a Relief estimator says what it takes."""
    if not type(built).__module__.startswith("reliefe.") or not hasattr(built, "get_params"):
        return {}
    parameters: Mapping[str, Any] = built.get_params(deep=True)
    return {
        key.replace("__", "."): value
        for key, value in parameters.items()
        if key.rpartition("__")[2] == "target" and isinstance(value, str)
    }


def _is_regressor(built: Any) -> bool:
    if hasattr(built, "__sklearn_tags__"):
        return built.__sklearn_tags__().estimator_type == "regressor"
    function = getattr(built, "func", None)
    name = getattr(function, "__name__", "")
    return _module_of(built).startswith("sklearn.") and name.endswith("_regression")


def _module_of(built: Any) -> str:
    function = getattr(built, "func", None)
    return str(getattr(type(built) if function is None else function, "__module__", ""))
