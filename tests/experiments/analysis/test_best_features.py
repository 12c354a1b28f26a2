"""Which features a ranker chose: counted from rows, and held against rankers fitted on the same folds."""

import numpy as np
import pandas as pd
import pytest
from listening import Listening

from experiments.analysis.best_features import COLUMNS, best_features
from experiments.config.compose import compose_runs
from experiments.datasets import load
from experiments.evaluation.evaluate import fold_seed
from experiments.evaluation.splits import folds
from experiments.execution.runner import collect_study, run_study
from reliefe import ReliefF

ADDED = ["top_columns", "top_names", "top_ranks", "top_weights"]


def row(ranker, fold, weights=None, status="ok", **more):
    n_features = len(weights) if weights is not None else 4
    return {
        "kind": "ranking",
        "dataset": "d",
        "protocol": "p",
        "ranker": ranker,
        "repeat": 0,
        "fold": fold,
        "status": status,
        "error": None if status == "ok" else "RankerError: no",
        "n_features": n_features,
        "weights": weights,
        **more,
    }


def counted(weights, names):
    """Feature → (share of folds among the first 20, mean rank, mean weight), for lists without equal weights."""
    found = {}
    for name, own in zip(names, np.transpose(weights), strict=True):
        ranks = np.array([1 + (each > mine).sum() for each, mine in zip(weights, own, strict=True)])
        there = ranks <= 20
        if there.any():
            found[name] = (there.mean(), ranks[there].mean(), own[there].mean())
    return found


def test_rows_are_counted_as_by_hand():
    rng = np.random.default_rng(4)
    weights = rng.normal(size=(7, 90)) + np.linspace(2, 0, 90)
    names = [f"f{column}" for column in range(90)]
    found = best_features(
        pd.DataFrame([row("a", fold, each) for fold, each in enumerate(weights)]), names={"d": names}
    )
    assert found.columns.tolist() == COLUMNS and found["place"].tolist() == list(range(1, 21))
    expected = counted(weights, names)
    order = sorted(expected, key=lambda name: (-expected[name][0], expected[name][1], int(name[1:])))[:20]
    assert found["feature"].tolist() == order
    assert found["column"].tolist() == [int(name[1:]) for name in order]
    for column, place in (("chosen", 0), ("mean_rank", 1), ("mean_weight", 2)):
        np.testing.assert_allclose(found[column], [expected[name][place] for name in order], rtol=1e-13)
    assert found[
        ["n_features", "n_folds", "folds_without", "folds_tied"]
    ].drop_duplicates().values.tolist() == [[90, 7, 0, 0]]


def test_equal_weights_share_places_whatever_the_order_of_columns():
    rng = np.random.default_rng(1)
    weights = rng.choice(4, (6, 45)) / 4
    names = np.array([f"f{column}" for column in range(45)])

    def found(order):
        frame = pd.DataFrame([row("a", fold, each[order]) for fold, each in enumerate(weights)])
        made = best_features(frame, names={"d": names[order]}, most=45).set_index("feature").sort_index()
        return made[["chosen", "mean_rank", "mean_weight", "folds_tied"]]

    expected = found(np.arange(45))
    assert expected["chosen"].sum() == pytest.approx(20) and expected["folds_tied"].eq(6).all()
    for _ in range(3):
        pd.testing.assert_frame_equal(found(rng.permutation(45)), expected, rtol=1e-13, atol=0)


def test_the_same_place_is_that_of_the_lower_column():
    frame = pd.DataFrame([row("a", 0, [1.0, 3.0, 2.0]), row("a", 1, [2.0, 3.0, 1.0])])
    found = best_features(frame)
    assert found["column"].tolist() == [1, 0, 2] and found["mean_rank"].tolist() == [1, 2.5, 2.5]


def test_names_of_the_data_set_go_before_those_in_rows_and_without_any_columns_are_counted():
    first = {
        "top_columns": [2, 0],
        "top_ranks": [1.0, 2.0],
        "top_weights": [0.5, 0.4],
        "top_names": ["x,y", "b"],
    }
    frame = pd.DataFrame([row("a", 0, **first), row("a", 1, [0.1, 0.9, 0.2, 0.0], **dict.fromkeys(ADDED))])
    found = best_features(frame).set_index("column")
    assert found["feature"].to_dict() == {2: "x,y", 0: "b", 1: "feature 1", 3: "feature 3"}
    assert found["chosen"].to_dict() == {2: 1.0, 0: 1.0, 1: 0.5, 3: 0.5}
    assert found["mean_weight"].to_dict() == {2: 0.35, 0: 0.25, 1: 0.9, 3: 0.0}
    named = best_features(frame, names={"d": ["p", "q", "r", "s"]}).set_index("column")
    assert named["feature"].to_dict() == {2: "r", 0: "p", 1: "q", 3: "s"}


def test_folds_without_rankings_are_counted_and_what_is_not_complete_is_left_out():
    frame = pd.DataFrame(
        [
            *(row("whole", fold, [1.0, 2.0, 0.0, 0.5]) for fold in (0, 1)),
            *(row("bare", fold) for fold in (0, 1)),
            row("partly", 0, [1.0, 2.0, 0.0, 0.5]),
            row("partly", 1),
            row("broken", 0, [1.0, 2.0, 0.0, 0.5]),
            row("broken", 1, status="failed"),
        ]
    )
    found = best_features(frame)
    assert found.groupby("ranker", sort=False)[["n_folds", "folds_without"]].first().to_dict("index") == {
        "whole": {"n_folds": 2, "folds_without": 0},
        "partly": {"n_folds": 1, "folds_without": 1},
    }
    nothing = best_features(frame[frame["ranker"] == "bare"])
    assert nothing.empty and nothing.columns.tolist() == COLUMNS


def test_nothing_is_chosen_by_equal_weights_of_many_features():
    found = best_features(pd.DataFrame([row("a", fold, np.ones(300)) for fold in (0, 1)]))
    assert found.empty


@pytest.fixture(scope="module")
def ran(tmp_path_factory):
    """A run on a table with odd names, its configurations, and the folder."""
    folder = tmp_path_factory.mktemp("best")
    rng = np.random.default_rng(11)
    y = np.tile(["a", "b"], 25)
    table = pd.DataFrame(rng.normal(size=(50, 30)), columns=[f'odd "{n}", name' for n in range(30)])
    table.iloc[:, [7, 21]] += 2.0 * (y == "b")[:, None]
    table["kind"] = y
    table.to_csv(folder / "odd.csv", index=False)
    argv = ["dataset=csv", f"dataset.path={folder / 'odd.csv'}", "dataset.target=kind", "ranker=relieff"]
    small = ["protocol.n_splits=4", "protocol.n_repeats=2", "protocol.grid_points=2"]
    configs = compose_runs([*argv, *small, f"paths.results={folder / 'results'}"]).configs
    return run_study(configs, n_workers=1, progress=Listening()), configs, table


def test_a_run_says_what_rankers_fitted_on_its_folds_say(ran):
    result, configs, table = ran
    data = load(configs[0]["dataset"], ".")
    names = list(table.columns[:-1])
    assert result.feature_names == {configs[0]["dataset_key"]: tuple(names)}
    weights = []
    for repeat in range(2):
        for fold, (train, _) in enumerate(folds(data.y, n_splits=4, repeat=repeat, seed=configs[0]["seed"])):
            seed = fold_seed(configs[0]["seed"], repeat, fold)
            ranker = ReliefF(**{k: v for k, v in configs[0]["ranker"].items() if k in ReliefF().get_params()})
            fitted = ranker.set_params(random_state=seed).fit(
                table.iloc[train, :-1].to_numpy(), data.y[train]
            )
            weights.append(fitted.feature_importances_)
    expected = counted(np.array(weights), names)
    found = best_features(result.frame)  # by the names in the rows
    order = sorted(expected, key=lambda name: (-expected[name][0], expected[name][1], names.index(name)))[:20]
    assert found["feature"].tolist() == order and set(order[:2]) == {names[7], names[21]}
    for column, place in (("chosen", 0), ("mean_rank", 1), ("mean_weight", 2)):
        np.testing.assert_allclose(found[column], [expected[name][place] for name in order], rtol=1e-9)


def test_the_rows_hold_twenty_of_each_fold(ran):
    result, *_ = ran
    frame = result.frame
    assert frame["top_columns"].map(len).eq(20).all() and len(frame) == 8
    for one in frame.to_dict("records"):
        order = np.argsort(-one["weights"], kind="stable")[:20]
        assert one["top_columns"].tolist() == order.tolist()
        assert one["top_weights"].tolist() == one["weights"][order].tolist()
        assert one["top_ranks"].tolist() == list(range(1, 21))
        assert list(one["top_names"]) == [f'odd "{n}", name' for n in order]


def test_rows_of_earlier_versions_say_the_same(ran):
    result, *_ = ran
    new = best_features(result.frame, names=result.feature_names)
    old = best_features(result.frame.drop(columns=ADDED), names=result.feature_names)
    pd.testing.assert_frame_equal(old, new)
    nulls = result.frame.assign(**{name: None for name in ADDED})
    pd.testing.assert_frame_equal(best_features(nulls, names=result.feature_names), new)
    light = best_features(result.frame.assign(weights=None))  # as published
    pd.testing.assert_frame_equal(light, new)


def test_the_key_of_a_cell_does_not_know_the_names(ran):
    result, configs, _ = ran
    again = collect_study(configs)
    assert again.counts.missing == 0
    pd.testing.assert_frame_equal(again.frame, result.frame)
