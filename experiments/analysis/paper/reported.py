"""What the paper compared: its data sets, rankers, folds, and what may stand for them here."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

#: The paper's data sets and rankers, under the names they bear here.
MCC_DATASETS = (
    *("chess", "biodeg_p2_discrete", "optdigits", "madelon", "har", "pd_speech_features", "dlbcl"),
    *("tumors_c", "ap_ovary_kidney", "ohscal", "genes"),
)
MLC_DATASETS = (
    *("delicious", "imdb", "medical", "bibtex", "education1", "health1", "entertainment1", "science1"),
    "social1",
)
#: Real data sets of the same fields and shapes, which are not the paper's: verdicts on them stand apart.
MCC_RELATED = (
    *("isolet", "lsvt", "la1", "fbis", "basehock", "arcene", "colon", "leukemia", "srbct", "tox_171"),
    *("tumors_9", "brain_tumor_2", "chowdary", "nakayama", "dlbcl_all_probes", "digits", "breast_cancer"),
    *("wine", "gametes_2way", "gametes_3class"),
)
MLC_RELATED = (
    *("emotions", "scene", "yeast", "birds", "yahoo_education", "yahoo_entertainment", "yahoo_health"),
    "yahoo_social",
)
RELIEFE = ("reliefe", "reliefe_absmean", "reliefe_adaptive", "reliefe_absmean_adaptive")
RELIEFF = ("relieff", "relieff_absmean", "relieff_adaptive", "relieff_absmean_adaptive")
SURF = ("skrebate_surf", "skrebate_multisurf", "skrebate_multisurf_star")
MCC_RANKERS = (*RELIEFE, *RELIEFF, "skrebate_relieff", *SURF, "random_forest", "mutual_information")
#: Target distances; the last two are taken in an embedding of the targets.
DISTANCES = ("f1", "accuracy", "subset", "hamming", "cosine", "hyperbolic")
EMBEDDED_DISTANCES = ("cosine", "hyperbolic")


def of_labels(names: Sequence[str], distances: Sequence[str] = DISTANCES) -> tuple[str, ...]:
    """Name multi-label rankers: every ranker with every target distance.

    Parameters
    ----------
    names : sequence of str
        Rankers.
    distances : sequence of str, default=DISTANCES
        Target distances.

    Returns
    -------
    tuple of str
    """
    return tuple(f"{name}_{distance}" for name in names for distance in distances)


MLC_RANKERS = of_labels((*RELIEFE, *RELIEFF))

#: The two rankers whose convergence the paper shows, and the data sets it shows them on, with the largest power of
#: two below the number of training samples of a fold.
CONVERGING = ("reliefe_absmean_adaptive", "relieff")
CONVERGENCE_NUMBERS = {"tumors_c": 32, "dlbcl": 32, "biodeg_p2_discrete": 128, "chess": 2048}


def with_iterations(family: str, last: int) -> tuple[str, ...]:
    """Name a ranker with 1, 2, 4, … iterations, and with every sample once.

    Parameters
    ----------
    family : str
        The ranker.
    last : int
        The largest number of iterations.

    Returns
    -------
    tuple of str
    """
    powers = [2**power for power in range(last.bit_length()) if 2**power <= last]
    return (*(f"{family}[n_iterations={power}]" for power in powers), family)


_CONVERGENCE_RANKERS = tuple(
    name for family in CONVERGING for name in with_iterations(family, max(CONVERGENCE_NUMBERS.values()))
)

#: What claims about rankings are about → data sets of the paper, related ones, and rankers.
RANKINGS = {
    "mcc": (MCC_DATASETS, MCC_RELATED, MCC_RANKERS),
    "mlc": (MLC_DATASETS, MLC_RELATED, MLC_RANKERS),
    "convergence": (tuple(CONVERGENCE_NUMBERS), (), _CONVERGENCE_RANKERS),
}
#: Folds and repeats of the paper's studies.
EXTENTS = {"mcc": (10, 10), "mlc": (10, 10), "convergence": (3, 1)}
#: Kind of target → what claims about its rankings are about.
ABOUT = {"multiclass": ("mcc", "convergence"), "multilabel": ("mlc",)}
#: Settings of the learners that the paper names; those that a protocol does not state are scikit-learn's.
_LEARNERS: dict[str, dict[str, Any]] = {
    "learner": {"C": 1.0},
    "multilabel_learner": {
        "n_estimators": 100, "criterion": "gini", "max_depth": None, "max_features": "sqrt",
        "min_samples_split": 2, "min_samples_leaf": 1, "bootstrap": True, "class_weight": None,
    },
}  # fmt: skip
#: Fewer numbers of features would find another best one.
_FEWEST_POINTS = 50


def about_of(config: Mapping[str, Any], extents: Mapping[str, tuple[int, int]] = EXTENTS) -> str | None:
    """Say which of the paper's studies a cell belongs to, if it was evaluated as there.

    Parameters
    ----------
    config : mapping
        A resolved configuration.
    extents : mapping of str to (int, int), default=EXTENTS
        Folds and repeats of the paper's studies.

    Returns
    -------
    str or None
        A key of :data:`RANKINGS`; None for a numeric target, a random subset of the samples (``max_rows``), other
        folds, fewer numbers of features, or another learner.

    Notes
    -----
    The number of repeats is not looked at: whoever needs all of them counts them.
    """
    protocol = config["protocol"]
    task = config["dataset"]["task"]
    if task not in ABOUT or protocol.get("measure") or protocol.get("max_rows") is not None:
        return None
    if int(protocol.get("grid_points") or _FEWEST_POINTS) < _FEWEST_POINTS:
        return None
    which = "multilabel_learner" if task == "multilabel" else "learner"
    learner = protocol.get(which) or {}
    if any(name in learner and learner[name] != value for name, value in _LEARNERS[which].items()):
        return None
    for about in ABOUT[task]:
        if int(protocol["n_splits"]) == extents[about][0]:
            return about
    return None
