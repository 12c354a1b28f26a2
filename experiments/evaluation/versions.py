"""What decides the numbers of a cell beside its settings: versions of packages and of the project's own numbers."""

from __future__ import annotations

import hashlib
import importlib
import importlib.util
import sys
from collections.abc import Mapping, Sequence
from contextlib import suppress
from functools import lru_cache
from importlib import metadata
from pathlib import Path
from typing import Any

from experiments.errors import ConfigError

#: Versions of the numbers of everything of the project's own that a cell's numbers may come from. A version is
#: raised when a change gives other numbers (beyond rounding), and by nothing else: a release orphans no rows, and
#: rows of a kernel that was changed are not kept. How missing values are filled in has a version of its own
#: (``experiments.evaluation.filling.VERSION``), which is in the keys of such cells alone.
#: ``tests/experiments/evaluation/test_numbers.py`` compares numbers with stored digests.
NUMBERS: dict[str, int] = {
    # Folds and scores of the learner on given features, by task.
    "evaluation.multiclass": 1,
    "evaluation.multilabel": 1,
    "evaluation.regression": 1,
    # From weights to a curve: order of features, grid, relative F1.
    "evaluation.ranking": 1,
    # Rankers.
    "reliefe.ReliefF": 1,
    "reliefe.ReliefE": 1,
    "reliefe.SURF": 1,
    "reliefe.SURFStar": 1,
    "reliefe.MultiSURF": 1,
    "reliefe.MultiSURFStar": 1,
    "reliefe.TuRF": 1,
    "reliefe.VLS": 2,
    "experiments.rankers.all_relevant.Boruta": 1,
    "experiments.rankers.information.JMI": 2,
    "experiments.rankers.information.MRMR": 1,
    "experiments.rankers.scores.ForestPermutation": 1,
    "experiments.rankers.scores.ForestPermutationOfNumbers": 1,
    "experiments.rankers.scores.L1Logistic": 1,
    "experiments.rankers.scores.anova_f": 1,
    "experiments.rankers.scores.chi2": 1,
    "experiments.rankers.scores.linear_f": 1,
    # Learners.
    "experiments.learners.NestedLogisticRegression": 1,
    # Measurements (by their names in keys), and the functions that they are given.
    "experiments.studies.embedding.latent_dimension": 1,
    "experiments.studies.embedding.sparsity": 1,
    "experiments.studies.fits.adaptive_k": 1,
    "experiments.studies.fits.phases": 1,
    "experiments.studies.truth.recovery": 1,
    "reliefe.embedding.label_set_codes": 1,
    "reliefe.embedding.latent_dimension": 1,
    "reliefe.embedding.representatives": 1,
    "reliefe.embedding.sparsification_epsilon": 1,
    "reliefe.embedding.sparsify": 1,
    "reliefe.embedding.two_nn_line": 1,
    "reliefe.scaling.normalise": 1,
}

#: Their versions decide folds and learner scores whatever the ranker is.
_ALWAYS = ("numpy", "scipy", "scikit-learn")

#: What has moved keeps the place that it had in keys of cells, so that a move orphans no rows.
_IN_KEYS = {"experiments.evaluation.measurements.": "experiments.studies."}

#: Other distributions behind a ``_target_``. The longest name that fits counts, so an upgrade of umap-learn does
#: not run ReliefF again. What is not here leans on the distribution that its module lies in.
_BEHIND = {
    "reliefe": ("numba", "umap-learn", "pynndescent"),
    "reliefe.ReliefF": ("numba",),
    "umap": ("umap-learn", "pynndescent", "numba"),
    "sklearn": (),
    "experiments": (),
    "experiments.rankers.information": ("fast-select", "numba"),
    "experiments.rankers.all_relevant": ("boruta",),
    "fast_select": ("fast-select", "numba"),
}

#: Packages of the project, wherever they are installed: what is in them has versions of its numbers.
_PROJECT = ("experiments", "reliefe")
#: Modules whose versions are told by others.
_NO_FINGERPRINT = (*_PROJECT, "sklearn")

#: Distribution → package, of those whose version is taken from the source.
_OWN = {"reliefe-bench": "reliefe"}


def name_in_keys(target: str) -> str:
    """Return the name under which keys of cells know something of the project's own.

    Parameters
    ----------
    target : str
        A ``_target_``.

    Returns
    -------
    str
        The same, but for what has moved.
    """
    for place, former in _IN_KEYS.items():
        if target.startswith(place):
            return former + target.removeprefix(place)
    return target


def versions(*configs: Any, also: Sequence[str] = (), numbers: Sequence[str] = ()) -> dict[str, str | None]:
    """Return the versions that decide the numbers of what is configured.

    Parameters
    ----------
    *configs : mapping, list or value
        Blocks with ``_target_`` at any depth.
    also : sequence of str
        Distributions that decide them too.
    numbers : sequence of str
        Keys of :data:`NUMBERS` that decide them too.

    Returns
    -------
    dict
        Name → version, sorted. A distribution has its version, None when it is not installed. What is the project's
        own has the version of its numbers, which is the same in a checkout and wherever the project is installed.
        A module that belongs to no distribution, such as a user's own, has a fingerprint of its source: what it
        computed before it was changed is not taken for what it computes now.

    Raises
    ------
    ConfigError
        If something of the project's own has no version of its numbers.
    """
    names, own = {*_ALWAYS, *also}, {name: _numbers_version(name) for name in numbers}
    for target in _targets(configs):
        found = _distributions(target)
        names.update(found)
        if target.partition(".")[0] in _PROJECT:
            known = _known(target)
            own[known] = _numbers_version(known)
        elif not found:
            own |= _fingerprint(target.partition(".")[0])
    return dict(sorted(({name: installed(name) for name in names} | own).items()))


def present(name: str) -> str | None:
    """Return what :func:`versions` would state under a name in this process.

    Parameters
    ----------
    name : str
        Of a distribution, of a module that belongs to none, or a key of :data:`NUMBERS`.

    Returns
    -------
    str or None
        None when there is nothing of that name.
    """
    if name in NUMBERS:
        return _numbers_version(name)
    version = installed(name)
    return _fingerprint(name).get(name) if version is None else version


def _numbers_version(name: str) -> str:
    return f"numbers {NUMBERS[name]}"


def _known(target: str) -> str:
    """Return the key of :data:`NUMBERS` for something of the project's own, by whatever path it is named."""
    if (name := name_in_keys(target)) in NUMBERS:
        return name
    top, last = target.partition(".")[0], target.rpartition(".")[2]
    found = [name for name in NUMBERS if name.partition(".")[0] == top and name.rpartition(".")[2] == last]
    if len(found) != 1:
        raise ConfigError(
            f"{target} has no version of its numbers; its rows could not be distinguished from those of a later "
            "version (experiments/evaluation/versions.py lists what has one)"
        )
    return found[0]


def _fingerprint(module: str) -> dict[str, str]:
    """Return the module or package with the first digits of its files' SHA-256; {} for those of the project."""
    if module in _NO_FINGERPRINT or module in sys.stdlib_module_names:
        return {}
    try:
        spec = importlib.util.find_spec(module)
    except (ImportError, ValueError):
        return {}
    if spec is None or not (spec.origin or spec.submodule_search_locations):
        return {}
    files = [Path(spec.origin)] if spec.has_location and spec.origin else []
    for folder in spec.submodule_search_locations or []:
        files += sorted(Path(folder).rglob("*.py"))
    digest = hashlib.sha256()
    for file in files:
        with suppress(OSError):
            digest.update(file.read_bytes())
    return {module: f"source {digest.hexdigest()[:12]}"}


def _targets(config: Any) -> set[str]:
    if isinstance(config, Mapping):
        own = {config["_target_"]} if isinstance(config.get("_target_"), str) else set()
        return own.union(*(_targets(value) for value in config.values()))
    if isinstance(config, list | tuple):
        return set().union(*(_targets(value) for value in config))
    return set()


@lru_cache(maxsize=256)
def _distributions(target: str) -> tuple[str, ...]:
    parts = target.split(".")
    for n_parts in range(len(parts), 0, -1):
        if (name := ".".join(parts[:n_parts])) in _BEHIND:
            return _BEHIND[name]
    return tuple(sorted(set(_by_module().get(parts[0], ()))))


@lru_cache(maxsize=1)
def _by_module() -> Mapping[str, list[str]]:
    return metadata.packages_distributions()


@lru_cache(maxsize=256)
def installed(name: str) -> str | None:
    """Return the version of a distribution.

    Parameters
    ----------
    name : str
        The distribution's name.

    Returns
    -------
    str or None
        None when it is not installed. The project's own is that of the source that is imported.
    """
    if name in _OWN:
        return importlib.import_module(_OWN[name]).__version__
    try:
        return metadata.version(name)
    except metadata.PackageNotFoundError:
        return None
