"""The paper's claims on the rows of one study or of many, with the posteriors that they need."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any

import pandas as pd

from experiments.analysis.pairs import Posteriors
from experiments.analysis.paper import claims as paper
from experiments.report import posteriors

#: Rows of a study, and its resolved configurations.
StudyRows = tuple[pd.DataFrame, Sequence[Mapping[str, Any]]]


def checked(
    studies: Sequence[StudyRows],
    name: str,
    results: Path,
    *,
    say: Callable[[str], None] = lambda text: None,
) -> pd.DataFrame:
    """Check the paper's claims on all rows of some studies.

    Parameters
    ----------
    studies : sequence of (DataFrame, sequence of mapping)
        Rows, and what the studies ask for.
    name : str
        Begins the names of the files where posteriors are kept.
    results : Path
        The results folder.
    say : callable, optional
        Told what takes long.

    Returns
    -------
    DataFrame
        From :func:`experiments.analysis.paper.claims.check`.
    """
    pool = paper.pool_of(studies)
    pairs: dict[str, dict[tuple[str, str], None]] = {}
    for claim in paper.all_claims():
        if claim.pairs and claim.about in pool.paper:
            pairs.setdefault(claim.about, {}).update(dict.fromkeys(claim.pairs))

    def posteriors_of(rankings: Mapping[str, paper.Rankings], what: str) -> dict[str, Posteriors | None]:
        return {
            about: posteriors.of_pairs(rankings[about].scored, list(wanted), what, results, say=say)
            for about, wanted in pairs.items()
        }

    own = posteriors_of(pool.paper, f"{name}_claims")
    related = posteriors_of(pool.related, f"{name}_claims_related")
    return paper.check(pool, own, related)


def of_study(claims: pd.DataFrame, configs: Sequence[Mapping[str, Any]]) -> pd.DataFrame:
    """Choose the claims that a study is about.

    Parameters
    ----------
    claims : DataFrame
        From :func:`checked`, on the rows of this study and of others.
    configs : sequence of mapping
        The study's resolved configurations.

    Returns
    -------
    DataFrame
    """
    return claims[claims["about"].isin(paper.about_study(configs))].reset_index(drop=True)
