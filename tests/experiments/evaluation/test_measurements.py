"""Side experiments: what is measured, and that it is a row like any other."""

import json
import math

import cheap
import naive
import numpy as np
import pandas as pd
import pytest
from listening import Listening, text_of
from scipy import sparse

from experiments import report
from experiments.analysis import measurements
from experiments.config.compose import compose_runs
from experiments.datasets import nonzero_share
from experiments.errors import RankerError
from experiments.evaluation.cell import cells_of
from experiments.evaluation.evaluate import evaluate_measurement, evaluate_ranking, fold_seed
from experiments.evaluation.measurements import Subject
from experiments.execution.runner import collect_study, run_study
from experiments.rankers import built_value, rank
from experiments.report.measurements import missing_lines
from experiments.schema import ROW_SCHEMA
from experiments.store.store import Store
from reliefe import ReliefF
from reliefe.embedding import latent_dimension, sparsification_epsilon, sparsify, two_nn_line
from reliefe.scaling import normalise


def configured(protocol, ranker="reliefe", *argv):
    (config,) = compose_runs([f"protocol={protocol}", f"ranker={ranker}", *argv]).configs
    return config


def measured(protocol, X, y, ranker="reliefe", *argv, seed=0):
    """Call the measure of a protocol as the benchmark does."""
    config = configured(protocol, ranker, *argv)
    measure = built_value({**config["protocol"]["measure"], "_partial_": True})
    return measure(Subject(X, y, seed, config["ranker"], lambda: rank(config["ranker"], X, y, seed)))


@pytest.fixture
def data(rng):
    """Three classes of 40, 30 and 20 samples × 6 columns, half of the values 0."""
    y = np.repeat([0, 1, 2], [40, 30, 20])
    X = np.where(rng.random((90, 6)) < 0.5, 0.0, rng.normal(size=(90, 6)) + y[:, None])
    return X, y


# --- sparsify with a given error, and the points of the TwoNN line


def test_the_estimated_error_is_the_norm_of_the_block_matrix_per_column(rng):
    X = rng.normal(size=(7, 4))
    assert sparsification_epsilon(X) == pytest.approx(naive.sparsify_epsilon(X), rel=1e-14)
    assert sparsification_epsilon(sparse.csr_matrix(X)) == pytest.approx(naive.sparsify_epsilon(X), rel=1e-14)
    given = sparsify(X, 3, epsilon=sparsification_epsilon(X))
    assert (given != sparsify(X, 3)).nnz == 0


def test_a_given_error_decides_what_is_kept(rng):
    X = rng.normal(size=(30, 10))
    assert (sparsify(X, 0, epsilon=0.0) != sparse.csr_matrix(X)).nnz == 0
    epsilon = 2.0
    threshold = epsilon / math.sqrt(40)
    found = sparsify(X, 0, epsilon=epsilon).toarray()
    large = np.abs(X) > threshold
    assert 20 < large.sum() < 280
    np.testing.assert_array_equal(found[large], X[large])
    np.testing.assert_allclose(np.abs(found[~large & (found != 0)]), threshold)
    mean = np.mean([sparsify(X, seed, epsilon=epsilon).toarray() for seed in range(400)], axis=0)
    assert np.abs(mean - X).max() < 5 * threshold / 2 / math.sqrt(400)
    for bad in (-1.0, np.nan, np.inf):
        with pytest.raises(ValueError, match="epsilon"):
            sparsify(X, 0, epsilon=bad)


def test_the_points_of_the_line_give_its_slope_and_the_dimension(rng):
    X = rng.normal(size=(60, 8))
    X[5] = X[6]
    log_ratio, heights, slope = two_nn_line(X)
    assert len(log_ratio) == len(heights) == 59, "a repeated row counts once"
    assert (np.diff(log_ratio) >= 0).all() and heights[0] == 0
    assert slope == pytest.approx((log_ratio @ heights) / (log_ratio @ log_ratio))
    assert slope == pytest.approx(naive.two_nn_slope(X), rel=1e-9)
    assert latent_dimension(X) == round(slope)
    assert two_nn_line(1e-200 * X)[2] == pytest.approx(slope)
    as_sparse = two_nn_line(sparse.csr_matrix(X))
    np.testing.assert_allclose(as_sparse[0], log_ratio, rtol=1e-9)
    assert two_nn_line(np.ones((5, 3)))[2] is None and two_nn_line(np.ones((5, 3)))[0].size == 0


# --- what is measured


def test_sparsity_falls_with_the_error_and_is_that_of_the_library(data):
    X, y = data
    found = measured("sparsity", X, y)
    shares = found["shares"]
    assert found["epsilons"] == sorted(found["epsilons"]) and len(shares) == len(found["epsilons"]) >= 8
    assert found["share"] == nonzero_share(X) and 0.95 * found["share"] < shares[0] <= found["share"]
    assert shares == sorted(shares, reverse=True) and shares[-1] < 0.1 < shares[0]
    Z = normalise(X)
    assert found["epsilon_estimated"] == sparsification_epsilon(Z)
    assert found["share_estimated"] == nonzero_share(sparsify(Z, 0))
    assert found["sparsified"] and found["share_ranked"] == found["share_estimated"] < found["share"]
    assert measured("sparsity", sparse.csr_matrix(X), y) == found
    left = measured("sparsity", X, y, "reliefe", "ranker.sparsify_above=0.9")
    assert not left["sparsified"] and left["share_ranked"] == left["share"]
    with pytest.raises(RankerError, match="sparsify_above"):
        measured("sparsity", X, y, "relieff")


@pytest.mark.parametrize("multilabel", [False, True])
def test_the_latent_dimension_of_a_plane_is_2_and_comes_with_its_points(rng, multilabel):
    X = rng.random((500, 2)) @ rng.normal(size=(2, 50))
    y = np.arange(500) % 3
    if multilabel:
        y = sparse.csr_matrix((rng.random((500, 4)) < 0.4).astype(np.int8))
    found = measured("latent_dimension", X, y, "reliefe", "ranker.sparsify_above=1")
    assert found["latent_dimension"] == 2 and found["n_representatives"] == 500
    assert not found["sparsified"] and found["ranked"] == found["normalised"]
    assert found["normalised"]["slope"] == two_nn_line(normalise(X))[2]
    assert found["raw"]["slope"] == two_nn_line(X)[2] != found["normalised"]["slope"]
    fewer = measured("latent_dimension", X, y, "reliefe", "ranker.n_representatives=60")
    assert fewer["n_representatives"] == 60 and len(fewer["raw"]["log_ratio"]) == 60
    assert fewer["sparsified"] and fewer["ranked"] != fewer["normalised"]
    json.dumps(found, allow_nan=False)


@pytest.mark.parametrize("multilabel", [False, True])
def test_numbers_of_neighbours_are_counted_by_class(data, rng, multilabel):
    X, y = data
    if multilabel:
        y = sparse.csr_matrix((rng.random((90, 4)) < 0.4).astype(np.int8))
    found = measured("adaptive_k", X, y, "relieff_adaptive", "ranker.n_iterations=50", seed=4)
    used = ReliefF("adaptive", n_iterations=50, random_state=4).fit(X, y).n_neighbors_used_.reshape(50, -1)
    assert found["class_sizes"] == ([90] if multilabel else [40, 30, 20])
    assert len(found["neighbors"]) == used.shape[1] == len(found["class_sizes"])
    for column, neighbors, counts in zip(used.T, found["neighbors"], found["counts"], strict=True):
        assert np.repeat(neighbors, counts).tolist() == sorted(column.tolist())
    assert len({k for several in found["neighbors"] for k in several}) > 3
    with pytest.raises(RankerError, match="adaptive"):
        measured("adaptive_k", X, y, "relieff")


def test_a_ranker_without_times_has_no_phases(data):
    assert "weights" in measured("phases", *data, "relieff")["phases"]
    with pytest.raises(RankerError, match="timings_"):
        measured("phases", *data, "random_forest")


# --- as rows


def test_a_measurement_is_one_row_over_all_rows(data):
    X, y = data
    config = configured("adaptive_k", "relieff_adaptive", "ranker.n_iterations=20", "seed=5")
    (cell,) = cells_of(config, checksum="0" * 64, task="multiclass")
    assert (cell.kind, cell.reference, cell.n_splits) == ("adaptive_k", None, 1)
    result = evaluate_measurement(cell, X, y)
    (row,) = result.table.to_pylist()
    assert result.ok and list(row) == ROW_SCHEMA.names
    assert (row["kind"], row["fold"], row["n_train"], row["n_test"]) == ("adaptive_k", 0, 90, 0)
    seed = fold_seed(5, 0, 0)
    expected = ReliefF("adaptive", n_iterations=20, random_state=seed).fit(X, y)
    assert row["weights"] == expected.feature_importances_.tolist(), "the ranker was fitted on all rows"
    assert row["fit_seconds"] > 0 and "total" in json.loads(row["phase_seconds"])
    assert sum(map(sum, json.loads(row["measurement"])["counts"])) == 3 * 20
    assert row["f1_micro"] is None and row["grid"] is None
    kept = evaluate_measurement(cell, X, y, previous=result.table)
    assert kept.table.equals(result.table)


def test_a_measure_that_fails_is_a_failed_row(data):
    (cell,) = cells_of(configured("adaptive_k", "relieff"), checksum="0" * 64, task="multiclass")
    result = evaluate_measurement(cell, *data)
    (row,) = result.table.to_pylist()
    assert not result.ok and row["status"] == "failed" and row["measurement"] is None
    assert "RankerError" in row["error"] and "adaptive" in row["error"]


def test_rankings_have_no_measurement(data):
    (config,) = compose_runs(["protocol=quick", "ranker=relieff"]).configs
    cell = cells_of(config, checksum="0" * 64, task="multiclass")[0]
    assert (cell.kind, cell.measure) == ("ranking", {})
    columns = {"fold": 0, "status": "ok", "error": None, "f1_micro_all": 1.0, "f1_macro_all": 1.0}
    reference = pd.DataFrame([{**columns, "fold": fold, "learner_converged": True} for fold in range(5)])
    import pyarrow as pa

    table = evaluate_ranking(cell, *data, pa.Table.from_pandas(reference)).table
    assert set(table["status"].to_pylist()) == {"ok"} and table["measurement"].null_count == 5


def of_kind(results, protocol, *argv, ranker="reliefe"):
    config = configured(protocol, ranker, "dataset=wine", *argv)
    return {**config, "paths": {**config["paths"], "results": str(results)}, "launcher": {"n_workers": 1}}


def test_measurements_are_kept_and_run_once(tmp_path):
    results = tmp_path / "results"
    configs = [
        of_kind(results, "sparsity"),
        of_kind(results, "adaptive_k", "ranker.n_iterations=20", ranker="relieff_adaptive"),
        of_kind(results, "phases", ranker="relieff"),
        cheap.config(results),
    ]
    words = Listening()
    first = run_study(configs, progress=words)
    assert words.lines[0] == "6 of 6 cells missing; running 6 and 1 for the score of all features"
    assert first.exit_code == 0 and not [line for line in words.lines if "undefined" in line]
    assert first.frame["kind"].tolist() == ["sparsity", "adaptive_k", *["phases"] * 3, *["ranking"] * 3]
    again = run_study(configs, progress=Listening())
    assert again.counts.ran == 0 and text_of(again.frame) == text_of(first.frame)
    other = of_kind(results, "sparsity", "protocol.measure.epsilons=[0.5,1.0]")
    changed = run_study([*configs, other], progress=Listening())
    assert (changed.counts.cells, changed.counts.ran) == (7, 1)
    renamed = of_kind(results, "sparsity", "protocol.name=other", "ranker.n_jobs=2")
    assert run_study([renamed], progress=Listening()).counts.ran == 0
    more = of_kind(results, "phases", "protocol.n_repeats=4", ranker="relieff")
    assert run_study([more], progress=Listening()).counts.ran == 1
    for key in {row["cell_key"] for row in first.frame.to_dict("records")}:
        assert Store(results).has(key)


def test_a_report_has_a_line_and_a_table_for_what_was_measured(tmp_path, capsys):
    results = tmp_path / "results"
    configs = [
        of_kind(results, "sparsity"),
        of_kind(results, "adaptive_k", ranker="relieff"),
        of_kind(results, "phases", ranker="relieff"),
    ]
    missing = of_kind(results, "latent_dimension")
    result = run_study(configs, progress=Listening())
    assert result.exit_code == 1
    frame = collect_study([*configs, missing]).frame
    written = report.show(frame, [*configs, missing], {"results": str(results)})
    shown = capsys.readouterr().out
    assert "wine × reliefe: non-zeros" in shown and "estimated" in shown
    assert "repeat 2" in shown and "weights" in shown and "%" in shown
    assert "wine × ReliefF: 1 of 1 failed: RankerError" in shown
    assert "wine × ReliefE: 0 of 1 are there" in shown
    assert "not complete" not in shown and "best F1" not in shown
    assert [path.name for path in written] == ["wine_sparsity_reliefe.csv", "wine_phases_relieff.csv"]
    table = pd.read_csv(results / "tables" / "wine_sparsity_reliefe.csv")
    assert table["estimated"].tolist() == [False] * (len(table) - 1) + [True] and len(table) > 8


def test_what_was_not_measured_is_told_in_one_line_for_the_same_rankers():
    asked = [
        {
            "dataset_key": dataset,
            "ranker_key": ranker,
            "ranker": {"display_name": ranker.upper()},
            "protocol": {"n_repeats": 1},
        }
        for dataset, rankers in {"d": "ab", "e": "ab", "f": "abc"}.items()
        for ranker in rankers
    ]
    rows = pd.DataFrame(
        [["f", "b", "ok", None], ["f", "c", "failed", "no room\nat all"]],
        columns=["dataset", "ranker", "status", "error"],
    )
    assert missing_lines(rows, asked) == [
        "f × C: 1 of 1 failed: no room",
        "d, e, f × A: 0 of 1 are there",
        "d, e × B: 0 of 1 are there",
    ]
    assert missing_lines(rows.iloc[:0], asked[:4]) == ["d, e × A, B: 0 of 1 are there"]


# --- rows → tables


def frame_of(*rows):
    common = {"protocol": "p", "repeat": 0, "status": "ok", "phase_seconds": None, "measurement": "{}"}
    return pd.DataFrame([{**common, "dataset": "d", "ranker": "r", **row} for row in rows])


def test_points_of_each_kind():
    rows = frame_of(
        {
            "kind": "sparsity",
            "measurement": json.dumps(
                {"share": 0.5, "epsilons": [1.0, 2.0], "shares": [0.4, 0.3], "epsilon_estimated": 1.5}
                | {"share_estimated": 0.35, "sparsified": True, "share_ranked": 0.35}
            ),
        },
        {
            "kind": "adaptive_k",
            "measurement": json.dumps(
                {"class_sizes": [5, 9], "neighbors": [[1, 4], [2]], "counts": [[3, 1], [4]]}
            ),
        },
        {"kind": "phases", "phase_seconds": json.dumps({"a": 1.0, "b": 3.0, "total": 4.5})},
        {"kind": "phases", "repeat": 1},
        {"kind": "sparsity", "status": "failed", "measurement": None},
        {"kind": "ranking", "measurement": None},
    )
    where = ["d", "p", "r", 0]
    assert measurements.points(rows, "sparsity").values.tolist() == [
        [*where, 1.0, 0.5, 0.4, False],
        [*where, 2.0, 0.5, 0.3, False],
        [*where, 1.5, 0.5, 0.35, True],
    ]
    assert measurements.points(rows, "adaptive_k").values.tolist() == [
        [*where, 0, 5, 1, 3],
        [*where, 0, 5, 4, 1],
        [*where, 1, 9, 2, 4],
    ]
    assert measurements.points(rows, "phases").values.tolist() == [
        [*where, "a", 1.0, 0.25],
        [*where, "b", 3.0, 0.75],
    ]
    assert measurements.points(rows, "latent_dimension").empty
    with pytest.raises(ValueError, match="adaptive_k"):
        measurements.points(rows, "ranking")
    words = measurements.summary(rows)["result"].tolist()
    assert words == [
        "non-zeros 0.5000 → 0.3500 with the estimated ε = 1.5",
        "k: median 2, 5 % to 95 % 1 to 2; classes of 5 samples and more",
        "4 s: b 75%, a 25%",
        "no times: more threads were at work than there are cores",
    ]
    own = frame_of({"kind": "mine", "measurement": '{"x": 1}'})
    assert measurements.summary(own)["result"].tolist() == ['{"x": 1}']
