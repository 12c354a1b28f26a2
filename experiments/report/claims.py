"""The paper's claims on the rows of one study or of many, with the posteriors that they need."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any

import pandas as pd

from experiments.analysis.claims.cells import Cells, StudyRows, about_study, pool_of
from experiments.analysis.claims.check import all_claims, check
from experiments.analysis.pairs import Posteriors
from experiments.report import posteriors


def checked(
    studies: Sequence[StudyRows],
    name: str,
    results: Path,
    *,
    say: Callable[[str], None] = lambda text: None,
    used: posteriors.Answers | None = None,
) -> pd.DataFrame:
    """Check the paper's claims on all rows of some studies; ``name`` begins the files of posteriors."""
    pool = pool_of(studies)
    pairs: dict[str, dict[tuple[str, str], None]] = {}
    for claim in all_claims():
        if claim.pairs and claim.about in pool.paper:
            pairs.setdefault(claim.about, {}).update(dict.fromkeys(claim.pairs))

    def posteriors_of(cells: Mapping[str, Cells], stem: str) -> dict[str, Posteriors | None]:
        return {
            about: posteriors.of_pairs(cells[about].scored, list(wanted), stem, results, say=say, used=used)
            for about, wanted in pairs.items()
        }

    own = posteriors_of(pool.paper, f"{name}_claims")
    return check(pool, own, posteriors_of(pool.related, f"{name}_claims_related"))


def of_study(claims: pd.DataFrame, configs: Sequence[Mapping[str, Any]]) -> pd.DataFrame:
    """Return the claims that a study is about."""
    return claims[claims["about"].isin(about_study(configs))].reset_index(drop=True)
