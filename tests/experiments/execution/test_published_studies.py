"""Each published study is shown from its published rows: no data file is here, and no cell runs."""

import json

import numpy as np
import pytest

from experiments.cli import publish
from experiments.config.compose import compose_runs
from experiments.execution.runner import collect_study

#: Study → rows, cells, cells that were never published, data sets that have no published row and are not here.
STUDIES = {
    "mcc_published": (7000, 700, 0, 0),
    "mcc_times": (560, 56, 0, 0),
    "mcc_skrebate": (1400, 140, 0, 0),
    "mcc_related": (2690, 269, 11, 0),
    "mcc_five_folds": (140, 28, 0, 0),
    "mlc_published": (240, 48, 0, 0),
    "mlc_medical": (4800, 480, 0, 0),
    "mlc_sampled": (720, 240, 0, 0),
    "mlc_related": (960, 96, 0, 6),
    "mlc_related_sampled": (864, 288, 0, 0),
    "convergence": (162, 54, 0, 1),
    "truth_published": (640, 640, 0, 0),
    "phases": (45, 45, 0, 7),
    "adaptive_k": (10, 10, 0, 6),
    "sparsity": (5, 5, 0, 6),
    "latent_dimension": (5, 5, 0, 6),
}


def test_these_are_all_published_studies():
    index = json.loads((publish.FOLDER / "rows" / "cells.json").read_text(encoding="utf-8"))
    assert set(STUDIES) == set(publish.studies()) == set(index)
    assert sum(n_rows for n_rows, *_ in STUDIES.values()) == 20_241


@pytest.mark.parametrize("study", STUDIES)
def test_a_published_study_is_shown_without_data(study, tmp_path):
    n_rows, n_cells, n_missing, n_absent = STUDIES[study]
    results = tmp_path / "results"
    results.mkdir()
    (results / "published").symlink_to(publish.FOLDER)
    places = [f"paths.results={results}", f"paths.local_data={tmp_path}", f"paths.cache={tmp_path / 'cache'}"]
    found = collect_study(compose_runs([f"study={study}", *places]).configs, skip_absent=True)
    frame = found.frame
    assert (len(frame), frame["cell_key"].nunique()) == (n_rows, n_cells)
    assert (found.counts.missing, len(found.absent), found.quarantined) == (n_missing, n_absent, [])
    assert frame["status"].eq("ok").all() and sorted(each.name for each in results.iterdir()) == ["published"]
    for curve, source, whole in (("rf1_micro", "f1_micro", "f1_micro_all"), ("rr2", "r2", "r2_all")):
        for relative, scores, score in (
            frame[[curve, source, whole]].dropna(subset=[source]).itertuples(index=False)
        ):
            if score > 0:  # to the bit, though published rows leave these curves out
                assert np.array_equal(relative, scores / score)
