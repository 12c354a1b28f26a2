"""A bar for each of the best features; matplotlib is imported here and nowhere else in the library."""

from __future__ import annotations

from typing import Any

import numpy as np

from reliefe.inspection.permutation import PermutationTest
from reliefe.inspection.subsamples import SubsampleStability
from reliefe.ranking import ranks

#: Okabe and Ito's colours, which people with any kind of colour vision tell apart; they differ in lightness
#: too.
_SELECTED, _OTHER, _LIMIT = "#0072B2", "#B9C4CC", "#D55E00"
_LONGEST = 40  # characters of a name that are shown


def plot_weights(
    weights: Any,
    *,
    feature_names: Any = None,
    n_best: int = 20,
    test: PermutationTest | None = None,
    stability: SubsampleStability | None = None,
    level: float = 0.1,
    family_level: float = 0.05,
    ax: Any = None,
) -> Any:
    """Draw the weights of the best features as horizontal bars, the best at the top.

    Parameters
    ----------
    weights : array-like of shape (p,), fitted ranker or PermutationTest
        The weights, or what has them.
    feature_names : array-like of shape (p,), optional
        Names of the features. By default those that the ranker, ``test`` or ``stability`` has, else numbers.
        Names of more than 40 characters are shortened in the middle.
    n_best : int, default=20
        How many features are shown.
    test : PermutationTest, optional
        From :func:`permutation_test`, of the same features: bars with q ≤ ``level`` are dark, others pale,
        and a line stands at the weight that the largest weight exceeds in a share of ``family_level`` of all
        permutations of the target (no line where features were permuted). ``weights`` may be one.
    stability : SubsampleStability, optional
        From :func:`stability`, of the same features: how often a feature was chosen stands at the right.
    level : float, default=0.1
        For ``test``.
    family_level : float, default=0.05
        For ``test``.
    ax : matplotlib Axes, optional
        Where to draw; a figure of a fitting size is made by default.

    Returns
    -------
    matplotlib Axes

    Raises
    ------
    ImportError
        If matplotlib is not installed.
    ValueError
        For names, a test or a stability of another number of features, or for a wrong parameter.

    Examples
    --------
    >>> import matplotlib
    >>> matplotlib.use("agg")
    >>> from reliefe.inspection import plot_weights
    >>> ax = plot_weights([0.1, 0.3, -0.2], feature_names=["age", "dose", "site"], n_best=2)
    >>> [label.get_text() for label in ax.get_yticklabels()]
    ['dose', 'age']
    """
    from reliefe.inspection.refits import check_number

    check_number("n_best", n_best, 1)
    if isinstance(weights, PermutationTest) and test is None:
        test = weights
    values, own_names = _weights(weights)
    p = values.shape[0]
    for name, given, length in (
        ("test", test, None if test is None else test.weights.shape[0]),
        ("stability", stability, None if stability is None else stability.frequency.shape[0]),
        ("feature_names", feature_names, None if feature_names is None else len(feature_names)),
    ):
        if given is not None and length != p:
            raise ValueError(f"{name} is of {length} features, but there are {p} weights.")
    names = _names(p, feature_names, own_names, test, stability)
    try:
        from matplotlib import pyplot as plt
    except ImportError as error:
        raise ImportError("plot_weights() draws with matplotlib: python -m pip install matplotlib") from error

    best = np.argsort(ranks(values))[:n_best]
    labels = [_short(names[j]) for j in best]
    own_figure = ax is None
    if own_figure:
        width = 6.0 + 0.075 * max(map(len, labels))
        _, ax = plt.subplots(figsize=(width, 1.6 + 0.27 * len(best)), layout="constrained")
    places = np.arange(len(best))
    found = np.ones(len(best), dtype=bool) if test is None else test.q_values[best] <= level
    ax.barh(places, values[best], height=0.72, color=np.where(found, _SELECTED, _OTHER))
    ax.set_yticks(places, labels, parse_math=False)
    ax.set_ylim(len(best) - 0.4, -0.6)
    ax.axvline(0.0, color="#444444", linewidth=0.8)
    ax.set_xlabel("weight")
    ax.spines[["top", "right", "left"]].set_visible(False)
    ax.tick_params(axis="y", length=0)
    if stability is not None:
        _write_frequencies(ax, places, stability, best)
    if test is not None:
        shown = _explained(ax, test, found, level, family_level)
        if own_figure:
            ax.figure.legend(
                handles=shown, loc="outside lower right", ncols=3, frameon=False, fontsize="small"
            )
        else:
            ax.legend(handles=shown, fontsize="small")
    return ax


def _weights(weights):
    if isinstance(weights, PermutationTest):
        return weights.weights, weights.feature_names
    names = getattr(weights, "feature_names_in_", None)
    if hasattr(weights, "fit"):
        if not hasattr(weights, "feature_importances_"):
            raise ValueError(f"{type(weights).__name__} has no feature_importances_; fit it first.")
        weights = weights.feature_importances_
    values = np.asarray(weights, dtype=np.float64)
    if values.ndim != 1 or not values.size:
        raise ValueError(
            f"weights must be one number for each feature, not an array of shape {values.shape}."
        )
    return values, names


def _names(p, *sources):
    for source in sources:
        names = getattr(source, "feature_names", source)
        if names is not None:
            return [str(name) for name in names]
    return [str(j) for j in range(p)]


def _short(name):
    if len(name) <= _LONGEST:
        return name
    return f"{name[: _LONGEST // 2]}…{name[1 - _LONGEST // 2 :]}"


def _write_frequencies(ax, places, stability, best):
    along = ax.get_yaxis_transform()
    ax.text(
        1.02, -0.75, f"in top {stability.n_features}", transform=along, ha="left", va="bottom", size="small"
    )
    for place, share in zip(places, stability.frequency[best], strict=True):
        ax.text(1.02, place, f"{100 * share:.0f} %", transform=along, ha="left", va="center", size="small")


def _explained(ax, test, found, level, family_level):
    """Draw the line of a test; return what its legend shows."""
    from matplotlib.lines import Line2D
    from matplotlib.patches import Patch

    shown = []
    if found.any():
        shown.append(Patch(color=_SELECTED, label=f"q ≤ {level:g}"))
    if not found.all():
        shown.append(Patch(color=_OTHER, label=f"q > {level:g}"))
    limit = np.inf if test.null_maxima is None else test.threshold(family_level)
    if np.isfinite(limit):
        ax.axvline(limit, color=_LIMIT, linewidth=1.4, linestyle="--")
        label = f"largest weight by chance, p = {family_level:g}"
        shown.append(Line2D([], [], color=_LIMIT, linewidth=1.4, linestyle="--", label=label))
    return shown
