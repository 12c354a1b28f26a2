"""What happens to the samples before they are embedded: sparsification, and the latent dimension.

The steps are the library's; protocols name them, so that nothing here depends on it.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any

import numpy as np
from scipy import sparse

from experiments.datasets import nonzero_share
from experiments.errors import RankerError
from experiments.evaluation.measurements import Subject, needs

_INSTEAD = "take a ranker that embeds, such as reliefe"


@needs("sparsify_above", instead=_INSTEAD)
def sparsity(
    subject: Subject,
    *,
    normalise: Callable[..., Any],
    sparsify: Callable[..., sparse.csr_matrix],
    estimate: Callable[..., float],
    epsilons: Sequence[float],
) -> dict[str, Any]:
    """Sparsify the range-normalised samples with several errors ε, and with the estimated one.

    Parameters
    ----------
    subject : Subject
        With a ranker that has ``sparsify_above``.
    normalise, sparsify, estimate : callable
        ``normalise(X)``, ``sparsify(Z, seed, epsilon=ε)`` and ``estimate(Z)``.
    epsilons : sequence of float
        Errors allowed.

    Returns
    -------
    dict
        ``share`` (non-zeros before), ``epsilons`` and ``shares`` (non-zeros after, for each ε),
        ``epsilon_estimated`` and ``share_estimated``, ``sparsified`` (whether the ranker would sparsify at all),
        ``share_ranked`` (of what the ranker embeds).

    Notes
    -----
    Source: the paper's appendix "Ablation study of data sparsity".
    """
    above = _setting(subject.ranker, "sparsify_above")
    Z = normalise(subject.X)
    share, epsilon = _share(Z), estimate(Z)
    shares = [_share(sparsify(Z, subject.seed, epsilon=each)) for each in epsilons]
    with_estimate = _share(sparsify(Z, subject.seed))
    return {
        "share": share,
        "epsilons": [float(each) for each in epsilons],
        "shares": shares,
        "epsilon_estimated": epsilon,
        "share_estimated": with_estimate,
        "sparsified": share > above,
        "share_ranked": with_estimate if share > above else share,
    }


@needs("sparsify_above", "n_representatives", instead=_INSTEAD)
def latent_dimension(
    subject: Subject,
    *,
    normalise: Callable[..., Any],
    choose: Callable[..., np.ndarray],
    label_sets: Callable[..., np.ndarray],
    sparsify: Callable[..., sparse.csr_matrix],
    line: Callable[..., tuple[np.ndarray, np.ndarray, float | None]],
    estimate: Callable[..., int | None],
) -> dict[str, Any]:
    """Estimate the latent dimension of the representatives, and keep the points its line is fitted to.

    Parameters
    ----------
    subject : Subject
        With a ranker that has ``sparsify_above`` and ``n_representatives``.
    normalise, choose, label_sets, sparsify, line, estimate : callable
        ``normalise(X)``, ``choose(codes, how many, seed)``, ``label_sets(T)`` → codes, ``sparsify(Z, seed)``,
        ``line(rows)`` → (log μ, −log(1 − EMP), slope), ``estimate(rows)`` → dimension.

    Returns
    -------
    dict
        ``latent_dimension`` (of the samples as the ranker embeds them), ``n_representatives``, ``sparsified``, and
        for each of ``ranked`` (as the ranker embeds them), ``normalised`` (not sparsified) and ``raw`` (features as
        they are) a dict with ``log_ratio``, ``minus_log_rest`` and ``slope``.

    Notes
    -----
    Source: the paper's section "Estimation of latent dimension", Algorithm 2, and its figure for genes.
    """
    above, most = (_setting(subject.ranker, key) for key in ("sparsify_above", "n_representatives"))
    Z = normalise(subject.X)
    codes = label_sets(subject.y) if sparse.issparse(subject.y) else subject.y
    if codes.dtype.kind == "f":  # numbers: ReliefE chooses among all samples
        codes = np.zeros(len(codes), dtype=np.int64)
    chosen = choose(codes, most, subject.seed)
    sparsified = _share(Z) > above
    rows = {
        "ranked": (sparsify(Z, subject.seed) if sparsified else Z)[chosen],
        "normalised": Z[chosen],
        "raw": subject.X[chosen],
    }
    points = {}
    for name, each in rows.items():
        log_ratio, minus_log_rest, slope = line(each)
        points[name] = {
            "log_ratio": log_ratio.tolist(),
            "minus_log_rest": minus_log_rest.tolist(),
            "slope": slope,
        }
    return {
        "latent_dimension": estimate(rows["ranked"]),
        "n_representatives": len(chosen),
        "sparsified": sparsified,
        **points,
    }


def _setting(ranker: Mapping[str, Any], key: str) -> Any:
    if key not in ranker:
        raise RankerError(f"the ranker has no {key}; {_INSTEAD}")
    return ranker[key]


def _share(X: np.ndarray | sparse.csr_matrix) -> float:
    return float(nonzero_share(X))  # JSON knows no numbers of numpy
