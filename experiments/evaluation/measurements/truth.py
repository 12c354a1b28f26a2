"""Whether a ranker finds the features that are known to decide the target."""

from __future__ import annotations

from typing import Any

from experiments.errors import DatasetError
from experiments.evaluation.measurements import Subject, needs
from reliefe.ranking import ranks


@needs(informative=True)
def recovery(subject: Subject) -> dict[str, Any]:
    """Rank all features, and say where those stand that decide the target.

    Parameters
    ----------
    subject : Subject
        With ``informative``.

    Returns
    -------
    dict
        ``n_features``, and ``ranks`` of the informative features, ascending; 1 is the best, equal weights stand in
        the order of the features.

    Raises
    ------
    DatasetError
        If the data set does not say which features decide the target.
    """
    if not subject.informative:
        raise DatasetError(
            "the data set does not say which of its features decide the target (informative: [names] in its YAML)"
        )
    weights = subject.fit().weights
    return {
        "n_features": weights.shape[0],
        "ranks": sorted(ranks(weights)[list(subject.informative)].tolist()),
    }
