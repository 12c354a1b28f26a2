"""Reports of data sets with a numeric target: R² by its name everywhere, and never in one average with F1."""

import io
import re

import numpy as np
import pandas as pd
import pytest
from boxes import assert_tidy, texts
from matplotlib.figure import Figure
from pages import Read

from experiments import report
from experiments.analysis import bayes
from experiments.analysis.groups import groups_of
from experiments.analysis.scores import DIAGRAMS, MEASURES, measures_of
from experiments.analysis.selection import expected_of, select
from experiments.analysis.similarity import pairwise_fuji
from experiments.analysis.summary import summary
from experiments.cli import main
from experiments.config.compose import compose_runs
from experiments.execution.runner import collect_study
from experiments.figures import rf1_curve, style
from experiments.metrics.fuji import area_under_fuji, fuji_curve
from experiments.tasks import TASKS, as_scores

STUDY = """protocol: quick
protocol.n_splits: 3
protocol.grid_points: 5
parts:
  - {dataset: [wine, diabetes], ranker: [relieff, anova_f]}
  - {dataset: friedman1, dataset.n_rows: 80, dataset.n_noise: 3, ranker: [relieff, anova_f]}
"""


class Answer:
    """What the sampler would say; it has tests of its own."""

    max_rhat, min_ess, divergences, n_drawn = 1.001, 5000.0, 0, 4000
    sample = np.tile([0.2, 0.5, 0.3], (4000, 1))

    def probs(self):
        return tuple(self.sample.mean(axis=0))


@pytest.fixture(scope="module")
def made(tmp_path_factory):
    """A study of classes and numbers: run, reported, and what the report printed and drew."""
    folder = tmp_path_factory.mktemp("numeric")
    (folder / "conf" / "study").mkdir(parents=True)
    (folder / "conf" / "study" / "mine.yaml").write_text(STUDY)
    argv = [
        "study=mine",
        "--config-dir",
        str(folder / "conf"),
        f"paths.results={folder}",
        "launcher.n_workers=1",
    ]
    assert main.run(argv) == 0
    configs, figures = compose_runs(argv).configs, {}
    frame, out = collect_study(configs).frame, io.StringIO()
    patch = pytest.MonkeyPatch()
    patch.setattr(bayes, "hierarchical_tests", lambda pairs, *_, **__: [Answer() for _ in pairs])
    save = style.save
    patch.setattr(
        style,
        "save",
        lambda figure, where, stem: [figures.setdefault(stem, figure), *save(figure, where, stem)][1:],
    )
    files = report.show(frame, configs, {"results": folder}, out, whole=True, arguments=argv)
    patch.undo()
    return folder, configs, frame, files, out.getvalue(), figures


def test_a_task_gives_the_score_its_name():
    of = TASKS["regression"]
    assert of.said("AUrF1, rF1 and max F1; micro F1") == "AUrR², rR² and max R²; R²"
    assert of.column("best_f1_micro_mean") == "best_r2_mean" and of.column("aurf1_micro_sd") == "aurr2_sd"
    assert (
        of.column("rf1_undefined_folds") == "rr2_undefined_folds"
        and of.column("fit_seconds") == "fit_seconds"
    )
    table = pd.DataFrame(columns=["ranker", "best_f1_micro_mean", "best_f1_macro_mean", "n_rows"])
    assert list(of.columns(table)) == ["ranker", "best_r2_mean", "n_rows"]
    assert TASKS["multiclass"].columns(table) is table and TASKS["multilabel"].said("F1") == "F1"
    assert set(DIAGRAMS) == set(TASKS)
    assert [each.title for each in measures_of("regression").values()][:2] == ["max R²", "mean R²"]
    assert measures_of("multiclass") == MEASURES and "R²" in measures_of("regression")["best_f1"].meaning


def test_groups_are_of_one_kind_of_target(made):
    _, configs, *_ = made
    groups = {group.task: group for group in groups_of(configs)}
    assert set(groups) == {"multiclass", "regression"}
    assert list(groups["multiclass"].datasets) == ["wine"]
    assert len(groups["regression"].datasets) == 2 and groups["regression"].kind.score == "R²"
    assert groups["regression"].labels == {"relieff": "RReliefF", "anova_f": "F of linear regression"}


def test_the_average_over_data_sets_is_of_r2_alone(made):
    folder, _, frame, *_ = made
    table = pd.read_csv(folder / "tables" / "mine_regression_best_r2.csv").set_index("ranker")
    rows = frame[frame["r2_all"].notna()]
    assert rows["dataset"].nunique() == 2 and (table["n_datasets"] == 2).all()
    by_hand = rows.groupby(["ranker", "dataset"])["best_r2"].mean().groupby("ranker").mean()
    for ranker, mean in by_hand.items():
        assert table.at[ranker, "mean"] == pytest.approx(mean)
    scores = pd.read_csv(folder / "tables" / "mine_regression_scores.csv")
    assert {"best_r2", "mean_r2", "aurr2", "fit_seconds"} <= set(scores["measure"])
    assert set(pd.read_csv(folder / "tables" / "mine_multiclass_scores.csv")["dataset"]) == {"wine"}


def test_files_and_columns_of_a_numeric_target_speak_of_r2(made):
    _, _, frame, files, *_ = made
    mine = [file for file in files if "regression" in file.name or "diabetes" in file.name]
    assert len(mine) > 20 and not [file.name for file in mine if "f1" in file.name]
    assert {"mine_regression_critical_distance_best_r2.png", "mine_regression_aurr2.svg"} <= {
        file.name for file in mine
    }
    for file in mine:
        if file.suffix in (".csv", ".tex"):
            assert not re.search("F1|f1|macro", file.read_text()), file.name
    (table,) = [file for file in mine if file.suffix == ".csv" and "diabetes" in file.name]
    lines = pd.read_csv(table).set_index("ranker")
    rows = frame[frame["dataset"] == "diabetes"].groupby("ranker")
    assert lines["best_r2_mean"].to_dict() == pytest.approx(rows["best_r2"].mean().to_dict())
    assert lines["aurr2_mean"].to_dict() == pytest.approx(rows["aurr2"].mean().to_dict())
    assert lines["r2_all_sd"].to_dict() == pytest.approx(rows["r2_all"].std().to_dict())


def test_the_table_on_the_console(made):
    *_, printed, _ = made
    of_numbers, of_classes = (printed[printed.index(name) :][:1500] for name in ("diabetes ·", "wine ·"))
    assert "best R²" in of_numbers and "AUrR²" in of_numbers and "RReliefF" in of_numbers
    said = "R², of which 1 is the most, and 0 is no better than the mean, is 0.4"
    assert said in of_numbers and "best F1" in of_classes


def test_figures_of_a_numeric_target_speak_of_r2(made):
    *_, figures = made
    mine = {stem: each for stem, each in figures.items() if "regression" in stem or "diabetes" in stem}
    assert len(mine) > 8
    for stem, each in mine.items():
        assert isinstance(each, Figure) and "F1" not in texts(each), stem
    assert "rR² (1 = all features)" in texts(
        next(each for stem, each in mine.items() if stem.endswith("_rr2"))
    )
    assert "mean AUrR², 95 % interval" in texts(mine["mine_regression_aurr2"])
    assert "average ranks by max R²" in " ".join(
        texts(mine["mine_regression_critical_distance_best_r2"]).split()
    )
    assert "rF1 (1 = all features)" in texts(
        next(each for stem, each in figures.items() if stem.endswith("_rf1"))
    )


def test_the_page_speaks_of_both_apart(made):
    folder, *_ = made
    page = Read(folder / "report" / "mine.html")
    numbers, classes = ("g1", "g0") if "max F1" in page.tables["T_g0-rankers"][0] else ("g0", "g1")
    assert "2 rankers on 2 data sets with a number per sample." in page.text
    assert "scored with Ridge on its best features; the score is R²." in page.text
    heads = page.tables[f"T_{numbers}-rankers"][0]
    assert "max R²" in heads and "AUrR²" in heads and not any("F1" in each for each in heads)
    assert {line["data set"] for line in page.lines(f"{classes}-all")} == {"wine"}
    first = page.lines(f"{numbers}-all")[0]
    assert first["max R²"].startswith("0.4") and first["R², all features"].startswith("0.4")


def test_curves_that_lie_below_0_are_in_sight():
    curves = pd.DataFrame(
        {
            "ranker": ["a"] * 3, "n_features": [1, 2, 3], "rf1_mean": [-2.0, 0.5, 1.0],
            "rf1_lower": [-9.0, 0.4, 0.9], "rf1_upper": [1.0, 0.6, 1.1],
        }
    )  # fmt: skip
    drawn = rf1_curve.figure(curves, title="d", score="R²")
    assert_tidy(drawn)
    low, high = drawn.axes[0].get_ylim()
    assert -5.3 < low < -2.0 and high > 1.0
    assert drawn.axes[0].get_ylabel() == "rR² (1 = all features)"
    above = curves.assign(**{name: curves[name].clip(lower=0.1) for name in curves if name.startswith("rf1")})
    assert rf1_curve.figure(above, title="d").axes[0].get_ylim()[0] >= 0.0


def rows(**curves):
    """A fold of each ranker on a numeric data set, with its R² along the ranking."""
    made = []
    for ranker, curve in curves.items():
        curve = np.array(curve, dtype=float)
        defined = curve[-1] > 0
        made.append(
            {
                "kind": "ranking", "dataset": "d", "protocol": "p", "ranker": ranker, "repeat": 0, "fold": 0,
                "status": "ok", "error": None, "grid": np.arange(1, len(curve) + 1), "r2": curve,
                "r2_all": curve[-1], "rr2": curve / curve[-1] if defined else curve * np.nan,
                "aurr2": 0.5 if defined else np.nan, "best_r2": curve.max(), "n_train": 20, "n_test": 10,
                "n_features": len(curve), "weights": np.arange(1.0, len(curve) + 1),
                "fit_seconds": 1.0, "warm_up_seconds": 0.0, "peak_memory_mib": 1.0, "latent_dimension": np.nan,
                "learner_converged": True, "time_limit_seconds": np.nan, "memory_limit_mib": np.nan,
                **{f"{name}_{average}": None for name in ("f1", "rf1") for average in ("micro", "macro")},
                **{
                    name.format(average): np.nan
                    for name in ("f1_{}_all", "aurf1_{}", "best_f1_{}")
                    for average in ("micro", "macro")
                },
            }
        )  # fmt: skip
    return pd.DataFrame(made)


def test_r2_stands_under_the_names_of_f1_for_whatever_compares_rankers():
    frame = rows(a=[0.1, 0.4, 0.5], b=[-0.5, 0.2, -0.1])
    seen = as_scores(frame)
    assert seen["f1_micro"][0].tolist() == [0.1, 0.4, 0.5] and seen["best_f1_macro"].tolist() == [0.5, 0.2]
    assert frame["f1_micro"].isna().all()  # not modified
    assert as_scores(frame.drop(columns="r2_all")) is not None
    summed = summary(select(frame)).set_index("ranker")
    assert summed["best_f1_micro_mean"].to_dict() == {"a": 0.5, "b": 0.2}
    assert summed["best_f1_micro_at"].to_dict() == {"a": 3.0, "b": 2.0}
    assert summed["rf1_undefined_folds"].to_dict() == {"a": 0.0, "b": 1.0}
    assert np.isnan(summed.at["b", "aurf1_micro_mean"])


def test_fuji_counts_a_relative_r2_below_0_as_0():
    frame = rows(a=[-1.0, 0.25, 0.5], b=[0.1, -0.1, 0.5], c=[0.1, 0.1, -0.2])
    found = pairwise_fuji(frame, on="rf1_micro").set_index(["ranker_a", "ranker_b"])["aufuji"]
    expected = area_under_fuji(fuji_curve([-2.0, 0.5, 1.0], [0.2, -0.2, 1.0], "clip"))
    assert found["a", "b"] == pytest.approx(expected) and 0 < expected < 1
    assert np.isnan(found["a", "c"]) and np.isnan(found["b", "c"])


def test_own_data_whose_kind_is_not_stated_are_in_a_group_of_their_kind(tmp_path):
    typed = ["dataset=csv", "dataset.path=x.csv", "ranker=relieff"]
    (labels,), (classes,) = (
        compose_runs([*typed, f"dataset.target={target}"]).configs for target in ("[a,b]", "a")
    )
    assert [groups_of([each])[0].task for each in (labels, classes)] == ["multilabel", "multiclass"]
    assert len(expected_of([labels])) == 1
