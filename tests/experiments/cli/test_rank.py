"""``python run.py rank``: one run on a table of odd names, every number beside plain pandas and scikit-learn."""

import base64
import io
import json
import logging
import re
import shlex
from contextlib import redirect_stdout
from dataclasses import replace
from html.parser import HTMLParser
from pathlib import Path
from types import SimpleNamespace

import numpy as np
import openpyxl
import pandas as pd
import pytest
from scipy.stats import false_discovery_control, kruskal
from sklearn.ensemble import RandomForestClassifier
from sklearn.linear_model import LogisticRegression, Ridge
from sklearn.metrics import f1_score
from sklearn.model_selection import RepeatedKFold, RepeatedStratifiedKFold, cross_val_score
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import MaxAbsScaler, StandardScaler

from experiments.cli import rank as command
from experiments.cli import ranking
from experiments.cli.rank_arguments import in_own_words, option, parser, turned
from experiments.cli.rank_folder import result_folder
from experiments.datasets.table import Table
from experiments.programs import program
from reliefe import SURF, MultiSURF, ReliefE, ReliefF, TuRF
from reliefe.inspection import permutation_test, stability
from reliefe.inspection.permutation import predicted_seconds

ODD = ["=SUM(A1)", "-dash", "@home", "+plus", "it's", 'say "hi"', "größe µ", "a,b", "<b>x</b>", "$HOME `x`"]
PLANTED = ["=SUM(A1)", "it's", "<b>x</b>"]
TARGET, PATIENT = "class of 'it'", "patient id"


def made_up():
    rng = np.random.default_rng(5)
    n, p = 48, 16
    ill = np.repeat([0, 1], n // 2)
    names = [*ODD, *(f"gene {place}" for place in range(len(ODD), p))]
    frame = pd.DataFrame(rng.normal(size=(n, p)).round(4), columns=names)
    for name in PLANTED:
        frame[name] += 2.5 * ill
    frame = frame.mask(rng.random((n, p)) < 0.03)
    frame["flat"] = 7
    frame["sex"] = rng.choice(["f", "m", "x"], n)
    frame.insert(0, PATIENT, [f"P{place:03}" for place in rng.permutation(n)])
    frame[TARGET] = np.where(ill, "ill", "not ill")
    return frame.sample(frac=1, random_state=2).reset_index(drop=True)


@pytest.fixture(scope="module")
def frame():
    return made_up()


@pytest.fixture(scope="module")
def done(frame, tmp_path_factory):
    """Run the command once; return its folder, what it said, and what was typed."""
    folder = tmp_path_factory.mktemp("rank")
    frame.to_csv(folder / "my table.csv", index=False)
    typed = [str(folder / "my table.csv"), "--target", TARGET, "--out", str(folder / "out"), "--jobs", "1"]
    typed += ["--repeats", "2", "--folds", "4", "--permutations", "30", "--subsamples", "10", "--seed", "3"]
    with redirect_stdout(io.StringIO()) as said:
        assert command.main(typed) == 0
    return folder / "out", said.getvalue(), typed


@pytest.fixture(scope="module")
def numbers(frame):
    """The table as a person would prepare it by hand."""
    X = frame.drop(columns=[PATIENT, TARGET]).copy()
    X["sex"] = X["sex"].map({"f": 0.0, "m": 1.0, "x": 2.0})
    y = (frame[TARGET] == "not ill").to_numpy().astype(int)
    return X, y


def ranker(X):
    return MultiSURF(missing="ignore", discrete_features=[X.columns.get_loc("sex")])


def table(done):
    return pd.read_csv(done[0] / "ranking.csv", keep_default_na=False)


def test_names_weights_and_ranks_are_those_of_the_library(done, numbers):
    X, y = numbers
    fitted = ranker(X).fit(X.to_numpy(float), y)
    found = table(done).set_index("feature")
    assert sorted(found.index) == sorted(X.columns)
    np.testing.assert_allclose(
        found.loc[X.columns, "weight"].astype(float), fitted.feature_importances_, rtol=1e-12
    )
    assert found.loc[X.columns, "rank"].tolist() == fitted.ranking_.tolist()
    assert table(done)["rank"].tolist() == list(range(1, X.shape[1] + 1))
    assert set(table(done)["feature"][:3]) == set(PLANTED)


def test_missing_values_and_kinds_are_counted(done, numbers):
    X, _ = numbers
    found = table(done).set_index("feature")
    assert found.loc[X.columns, "missing"].tolist() == X.isna().sum().tolist()
    assert found.loc["flat", "kind"] == "constant" and float(found.loc["flat", "weight"]) == 0
    assert found.loc["sex", "kind"] == "category"
    assert set(found.drop(["flat", "sex"])["kind"]) == {"number"}
    total, share = int(X.isna().sum().sum()), 100 * X.isna().to_numpy().mean()
    features, samples = int(X.isna().any().sum()), int(X.isna().any(axis=1).sum())
    assert f"{total} values missing ({share:.2g} %), in {features} features and {samples} samples" in done[1]


def test_p_q_and_frequency_are_those_of_the_inspection(done, numbers):
    X, y = numbers
    found = table(done).set_index("feature").loc[X.columns]
    about = json.loads((done[0] / "about.json").read_text(encoding="utf-8"))
    with pytest.warns(UserWarning, match="q <= 0.1 takes n_permutations="):
        test = permutation_test(ranker(X), X.to_numpy(float), y, n_permutations=30, random_state=3)
    assert "q <= 0.1 takes --permutations" in done[1] and "pooled" not in done[1]
    np.testing.assert_allclose(found["p"].astype(float), test.p_values, rtol=1e-12)
    # Benjamini and Hochberg by hand: p · m / rank, made non-decreasing from the largest on.
    p = np.sort(test.p_values)
    adjusted = np.minimum.accumulate((p * len(p) / np.arange(1, len(p) + 1))[::-1])[::-1].clip(max=1)
    np.testing.assert_allclose(np.sort(found["q"].astype(float)), adjusted, rtol=1e-12)
    keep = kept(done)
    stable = stability(ranker(X), X.to_numpy(float), y, n_features=keep, n_subsamples=10, random_state=3)
    np.testing.assert_allclose(found["frequency"].astype(float), stable.frequency, rtol=1e-12)
    assert f"Phi = {stable.stability:.2f} (95 % interval {stable.lower:.2f} to {stable.upper:.2f}" in done[1]
    assert about["permutations"] == 30 and about["seed"] == 3


def kept(done):
    return int(re.search(r"Keep the best (\d+) of 18 features", done[1])[1])


def by_hand(X, y):
    """F1 on the best 1, 2, … features: ranked and filled in with training samples alone; neighbours and linear."""
    folds = RepeatedStratifiedKFold(n_splits=4, n_repeats=2, random_state=3).split(X, y)
    near, linear = [], []
    for train, test in folds:
        order = np.argsort(ranker(X).fit(X.to_numpy(float)[train], y[train]).ranking_)
        middle = X.iloc[train].median()
        near.append([])
        linear.append([])
        for size in range(1, X.shape[1] + 1):
            best = list(X.columns[order[:size]])
            filled = X[best].fillna(middle)
            spread = (filled.iloc[train].max() - filled.iloc[train].min()).replace(0, 1)
            scaled = filled / spread
            if "sex" in best:
                dummies = pd.get_dummies(X["sex"].astype(int)).astype(float)
                filled = pd.concat([filled.drop(columns="sex"), dummies], axis=1)
                scaled = pd.concat([scaled.drop(columns="sex"), dummies / 2], axis=1)
            filled, scaled = filled.to_numpy(float), scaled.to_numpy(float)
            scaler = MaxAbsScaler().fit(filled[train])
            learner = LogisticRegression(C=1.0, tol=1e-8, solver="newton-cholesky").fit(
                scaler.transform(filled[train]), y[train]
            )
            linear[-1].append(
                f1_score(y[test], learner.predict(scaler.transform(filled[test])), average="micro")
            )
            right = 0
            for sample in test:  # the 6 nearest of 36 (their square root), and those as near as the sixth
                distances = np.abs(scaled[train] - scaled[sample]).sum(axis=1)
                votes = y[train][distances <= np.sort(distances)[5] + 1e-9]
                right += int(votes.mean() > 0.5) == y[sample]
            near[-1].append(right / len(test))
    return np.array(near), np.array(linear)


def test_the_curves_and_how_many_to_keep_are_those_of_plain_twins(done, numbers):
    scores, linear = by_hand(*numbers)
    curve = pd.read_csv(done[0] / "curve.csv")
    assert curve["n_features"].tolist() == list(range(1, 19))
    np.testing.assert_allclose(curve["score"], scores.mean(axis=0), atol=1e-12)
    np.testing.assert_allclose(curve["linear_score"], linear.mean(axis=0), atol=1e-12)
    error = np.sqrt((scores[:4].var(axis=0, ddof=1) + scores[4:].var(axis=0, ddof=1)) / 2 / 4)
    np.testing.assert_allclose(curve["standard_error"], error, atol=1e-12)
    best = int(scores.mean(axis=0).argmax())
    least = scores.mean(axis=0)[best] - error[best]
    assert kept(done) == 1 + int(np.flatnonzero(scores.mean(axis=0) >= least - 1e-12)[0])
    assert f"The largest mean micro F1 is {scores.mean(axis=0)[best]:.3f}, with {best + 1} feature" in done[1]


def test_the_column_of_sample_names_is_named_and_left_out(done):
    line = next(each for each in done[1].splitlines() if PATIENT in each)
    assert line == (
        f"column '{PATIENT}' holds another value in each row: taken as sample names, not as a feature; "
        f"--keep '{PATIENT}' keeps it"
    )
    assert "1 feature with one value only, or none (weight 0): 'flat'" in done[1]
    assert "MultiSURF (it needs no number of neighbours" in done[1]


def test_no_name_is_a_formula_in_the_workbook(done, numbers):
    book = openpyxl.load_workbook(done[0] / "ranking.xlsx")
    sheet = book["ranking"]
    cells = {row[1].value: row for row in sheet.iter_rows(min_row=2)}
    assert set(cells) == set(numbers[0].columns)
    for name in ("=SUM(A1)", "-dash", "@home", "+plus"):
        assert cells[name][1].data_type == "s" and cells[name][1].quotePrefix
    csv = table(done)
    assert [row[2].value for row in cells.values()] == pytest.approx(
        csv["weight"].astype(float).tolist(), abs=1e-15
    )
    assert [each.title for each in book.worksheets] == ["ranking", "curve", "about"]


class _Page(HTMLParser):
    def __init__(self):
        super().__init__()
        self.tags, self.text, self.sources, self.links = [], [], [], []

    def handle_starttag(self, tag, attributes):
        attributes = dict(attributes)
        self.tags.append(tag)
        self.sources += [attributes["src"]] if "src" in attributes else []
        self.links += [attributes["href"]] if "href" in attributes else []

    def handle_data(self, data):
        self.text.append(data)


def test_the_page_is_one_file_with_every_number(done):
    page = _Page()
    page.feed((done[0] / "index.html").read_text(encoding="utf-8"))
    text = "".join(page.text)
    assert (
        all(each.startswith("data:image/svg+xml;base64,") for each in page.sources) and len(page.sources) == 2
    )
    assert all(each.startswith(("#", "data:")) for each in page.links)
    assert "b" not in page.tags and "<b>x</b>" in text  # a name is no markup
    for row in table(done).itertuples():
        assert row.feature in text and f"{float(row.weight):.4g}" in text
    svg = base64.b64decode(page.sources[0].partition(",")[2])
    assert svg == (done[0] / "best_features.svg").read_bytes()
    assert (done[0] / "best_features.png").read_bytes().startswith(b"\x89PNG")


def test_the_command_of_the_page_can_be_typed_as_shown(done):
    page = _Page()
    page.feed((done[0] / "index.html").read_text(encoding="utf-8"))
    shown = next(each for each in page.text if " rank " in each and "--target" in each)
    words = shlex.split(shown)
    assert words[words.index("rank") + 1 :] == done[2]


def test_nothing_else_is_left_beside_the_results(done):
    assert sorted(each.name for each in done[0].parent.iterdir()) == ["my table.csv", "out"]
    assert sorted(each.name for each in done[0].iterdir()) == [
        "about.json", "best_features.png", "best_features.svg", "curve.csv", "index.html", "ranking.csv",
        "ranking.xlsx", "selection_curve.png", "selection_curve.svg",
    ]  # fmt: skip


def test_results_of_another_command_are_not_overwritten(done, capsys):
    before = {each.name: each.read_bytes() for each in done[0].iterdir()}
    assert command.main([*done[2], "--leave-out", "sex"]) == 2
    assert "results of another command, which are not overwritten" in capsys.readouterr().err
    assert {each.name: each.read_bytes() for each in done[0].iterdir()} == before


def test_ctrl_c_leaves_nothing_behind(done, monkeypatch, capsys, tmp_path):
    def pressed(*given):
        raise KeyboardInterrupt

    monkeypatch.setattr("experiments.report.ranked_table._curve_table", pressed)
    typed = [done[2][0], "--target", TARGET, "--out", str(tmp_path / "new"), "--folds", "2", "--repeats", "1"]
    assert command.main([*typed, "--permutations", "0", "--subsamples", "0", "--jobs", "1"]) == 130
    assert "nothing was written" in capsys.readouterr().err
    assert list(tmp_path.iterdir()) == []


# --- what is proposed can be typed


@pytest.mark.parametrize("name", ["plain", "two words", "it's", "-dash", "$x", "größe", "a,b", ""])
def test_an_option_is_one_word_and_its_value(name):
    words = shlex.split(option("--keep", name))
    assert words in (["--keep", name], [f"--keep={name}"])
    assert not name.startswith("-") or words == [f"--keep={name}"]


@pytest.mark.parametrize(
    ("said", "now"),
    [
        ("leave it out: dataset.leave_out=['my column']", "leave it out: --leave-out 'my column'"),
        (
            "say dataset.leave_out=[a,'it\\'s',0].",
            "say --leave-out a --leave-out 'it'\"'\"'s' --leave-out 0.",
        ),
        ("if it is a class: dataset.na_values=[None,NA] if", "if it is a class: --na-values None,NA if"),
        ("which words do: dataset.na_values=[]", "which words do: --na-values ''"),
        ("say 'dataset.na_values=[NA,<0.5]'; if", "say --na-values 'NA,<0.5'; if"),
        ("say \"dataset.na_values=[NA,'a, \\$b']\".", "say --na-values 'NA,\"a, $b\"'."),
        ("so (dataset.delimiter=tab)?", "so (--delimiter tab)?"),
        ("say dataset.decimal=','; if", "say --decimal ,; if"),
        ("choose a column of classes (dataset.target), or", "choose a column of classes (--target), or"),
        ("type dataset.skip_lines=3", "type --skip-rows 3"),
        ("dataset.zero_one=true", "dataset.zero_one=true"),
    ],
)
def test_messages_of_readers_name_the_options(said, now):
    assert in_own_words(said) == now


@pytest.mark.parametrize(
    ("said", "now"),
    [
        (
            "t.csv, line 2: column 'g2' holds 'x' among numbers",
            "t.csv, column 2: line 'g2' holds 'x' among numbers",
        ),
        (
            "t.csv has no column 'z' (dataset.target) among its 3",
            "t.csv has no line 'z' (--target) among its 3",
        ),
        ("2 columns are called 'a' (columns 2, 3)", "2 lines are called 'a' (lines 2, 3)"),
        (
            "column 'the column' is row.names in a/column/row.csv, line 7",
            "line 'the column' is row.names in a/column/row.csv, column 7",
        ),
        (
            "t.csv, line 3: no class (1 of 3 rows have none)",
            "t.csv, column 3: no class (1 of 3 columns have none)",
        ),
        (
            "each row: dataset.leave_out=[row,'column',0], row",
            "each column: --leave-out row --leave-out column --leave-out 0, column",
        ),
        (
            "t.csv is no even table: the line that begins with 'g2' has 2 cells",
            "t.csv is no even table: the line that begins with 'g2' has 2 cells",
        ),
        ("leave it out: dataset.leave_out=['a column']", "leave it out: --leave-out 'a column'"),
    ],
)
def test_messages_of_a_turned_table_are_of_the_file(said, now):
    assert in_own_words(said, transposed=True) == now


def test_an_option_of_a_turned_table_is_as_it_was():
    for name in ("row", "a column", "it's"):
        said = f"column {name!r} is in each row; {option('--keep', name)} keeps it"
        assert turned(said) == f"line {name!r} is in each column; {option('--keep', name)} keeps it"


# --- other targets, other rankers, bad input: small tables, no permutations

QUICK = ["--folds", "2", "--repeats", "1", "--permutations", "0", "--subsamples", "0", "--jobs", "1"]


@pytest.fixture
def run(tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr("experiments.cli.rank_folder.base_folder", lambda: tmp_path)

    def do(*typed):
        code = command.main([*QUICK, *typed])
        said = capsys.readouterr()
        return code, said.out, said.err

    return do


def small(path="t.csv", **more):
    rng = np.random.default_rng(1)
    frame = pd.DataFrame(rng.normal(size=(24, 4)), columns=list("abcd"))
    frame = frame.assign(**more)
    frame.to_csv(path, index=False)
    return frame


def test_a_numeric_target_is_ranked_for_by_rrelieff(run):
    frame = small()
    frame["age"] = frame["b"] * 3 + 50
    frame.to_csv("t.csv", index=False)
    code, out, err = run("t.csv", "--target", "age")
    assert (code, err) == (0, "")
    assert "target 'age': numbers from" in out and "--as classes" not in out  # 24 numbers in 24 rows
    assert "ranker: RReliefF (it takes numeric targets" in out
    found = pd.read_csv("results/rank/t/ranking.csv")
    fitted = ReliefF(target="regression").fit(frame[list("abcd")], frame["age"])
    weights = found.set_index("feature").loc[list("abcd"), "weight"]
    np.testing.assert_allclose(weights, fitted.feature_importances_, rtol=1e-12)
    curve = pd.read_csv("results/rank/t/curve.csv")
    assert curve.columns.tolist() == ["n_features", "score", "standard_error", "linear_score"]
    assert found["feature"][0] == "b" and "largest mean R²" in out


def test_the_linear_curve_of_a_numeric_target_is_scikit_learns(run):
    frame = small()
    frame["age"] = frame["b"] * 3 + frame["c"]
    frame.to_csv("t.csv", index=False)
    assert run("t.csv", "--target", "age")[0] == 0
    folds = RepeatedKFold(n_splits=2, n_repeats=1, random_state=0)
    scores = [
        cross_val_score(
            make_pipeline(ReliefF(target="regression", n_features_to_select=size), StandardScaler(), Ridge()),
            frame[list("abcd")],
            frame["age"],
            cv=folds,
        )
        for size in range(1, 5)
    ]
    curve = pd.read_csv("results/rank/t/curve.csv")
    np.testing.assert_allclose(curve["linear_score"], np.mean(scores, axis=1), rtol=1e-9)


@pytest.mark.parametrize(
    ("ranker", "fitted"),
    [
        ("multisurf", MultiSURF(target="regression", missing="ignore")),
        ("surf", SURF(target="regression", missing="ignore")),
        ("turf", TuRF(MultiSURF(target="regression", missing="ignore"), random_state=0)),
    ],
)
def test_a_numeric_target_with_another_ranker(run, ranker, fitted):
    frame = small()
    frame["age"] = frame["b"] * 3 + 50
    frame.loc[3, "c"] = np.nan
    frame.to_csv("t.csv", index=False)
    code, out, err = run("t.csv", "--target", "age", "--ranker", ranker)
    assert (code, err) == (0, "")
    assert "target 'age': numbers from" in out and "RReliefF" not in out
    found = pd.read_csv("results/rank/t/ranking.csv").set_index("feature")
    expected = fitted.fit(frame[list("abcd")], frame["age"]).feature_importances_
    np.testing.assert_allclose(found.loc[list("abcd"), "weight"], expected, rtol=1e-12)
    assert found.index[0] == "b"


def test_several_targets_with_another_ranker(run):
    frame = small()
    frame["red"], frame["round"] = (frame["a"] > 0).astype(int), (frame["c"] > 0).astype(int)
    frame.to_csv("t.csv", index=False)
    code, _, err = run("t.csv", "--target", "red,round", "--ranker", "multisurf")
    assert (code, err) == (0, "")
    found = pd.read_csv("results/rank/t/ranking.csv").set_index("feature")
    fitted = MultiSURF().fit(frame[list("abcd")], frame[["red", "round"]])
    np.testing.assert_allclose(found.loc[list("abcd"), "weight"], fitted.feature_importances_, rtol=1e-12)


def test_missing_values_with_an_embedding(run):
    frame = small(y=["u", "v"] * 12)
    frame.loc[3, "c"] = np.nan
    frame.to_csv("t.csv", index=False)
    code, _, err = run("t.csv", "--target", "y", "--ranker", "reliefe")
    assert code == 0 and not err.startswith("error")
    found = pd.read_csv("results/rank/t/ranking.csv").set_index("feature")
    fitted = ReliefE(missing="ignore", random_state=0).fit(frame[list("abcd")], frame["y"])
    np.testing.assert_allclose(found.loc[list("abcd"), "weight"], fitted.feature_importances_, rtol=1e-12)


def test_several_targets_are_labels(run):
    frame = small()
    frame["red"], frame["round"] = (frame["a"] > 0).astype(int), (frame["c"] > 0).astype(int)
    frame.to_csv("t.csv", index=False)
    code, out, err = run("t.csv", "--target", "red,round")
    assert (code, err) == (0, "")
    assert f"targets: 2 labels: red ({frame['red'].sum()}), round ({frame['round'].sum()})" in out
    fitted = ReliefF().fit(frame[list("abcd")], frame[["red", "round"]])
    found = pd.read_csv("results/rank/t/ranking.csv").set_index("feature")
    np.testing.assert_allclose(found.loc[list("abcd"), "weight"], fitted.feature_importances_, rtol=1e-12)
    assert set(found.index[:2]) == {"a", "c"}


def test_a_ranker_of_rankers_leaves_missing_values_out(run):
    frame = small(y=["u", "v"] * 12)
    frame.loc[frame["y"] == "v", "c"] += 3
    frame.loc[[2, 9], ["a", "c"]] = np.nan
    frame.to_csv("t.csv", index=False)
    code, out, err = run("t.csv", "--target", "y", "--ranker", "turf")
    assert (code, err) == (0, "")
    assert "4 values missing (4.2 %), in 2 features and 2 samples" in out
    assert "ranker: TuRF (MultiSURF) (as asked for; it leaves missing values out)" in out
    fitted = TuRF(MultiSURF(missing="ignore"), removed=0.1).fit(frame[list("abcd")].to_numpy(), frame["y"])
    found = pd.read_csv("results/rank/t/ranking.csv").set_index("feature")
    np.testing.assert_allclose(found.loc[list("abcd"), "weight"], fitted.feature_importances_, rtol=1e-12)
    assert found.index[0] == "c"


def test_a_class_of_one_sample_takes_no_folds_from_the_others(run):
    small(y=["rare", *["u", "v"] * 11, "u"])
    code, out, _ = run("t.csv", "--target", "y", "--folds", "5", "--repeats", "1")
    assert code == 0
    assert "classes with fewer samples than 5, so not in every test fold: rare (1)" in out
    assert "selection curve: 1 x 5 folds" in out


def test_a_narrower_command_has_a_folder_of_its_own(run):
    small(y=["u", "v"] * 12)
    assert run("t.csv", "--target", "y")[0] == 0
    before = {each.name: each.read_bytes() for each in Path("results/rank/t").iterdir()}
    code, out, _ = run("t.csv", "--target", "y", "--leave-out", "a")
    assert code == 0
    (other,) = (each.name for each in Path("results/rank").iterdir() if each.name != "t")
    assert re.fullmatch(r"t-[0-9a-f]{8}", other) and other in out
    assert {each.name: each.read_bytes() for each in Path("results/rank/t").iterdir()} == before
    # Each command finds its own folder again, and writes the same bytes.
    for name in ("t", other):
        digest = json.loads(Path("results/rank", name, "about.json").read_text())["digest"]
        assert result_folder("t.csv", None, digest).name == name
    assert run("t.csv", "--target", "y")[0] == 0
    assert {each.name: each.read_bytes() for each in Path("results/rank/t").iterdir()} == before


@pytest.mark.parametrize(
    ("typed", "said"),
    [
        (["tt.csv", "--target", "y"], "file tt.csv not found; did you mean t.csv?"),
        (["t.tsv.gz", "--target", "y"], "file t.tsv.gz not found; did you mean t.csv?"),
        (["nofile.csv", "--target", "y"], "file nofile.csv not found (looked in "),
        (
            ["t.csv", "--target", "a,b", "--as", "numbers"],
            "2 target columns, but --as numbers takes one number per sample; name one: --target a",
        ),
        (["t.csv"], "t.csv --target NAME\ncolumns: 'a', 'b', 'c', 'd', 'y', 'e', 'n'"),
        (["t.csv", "--target", "z"], "has no column 'z' (--target) among its 7"),
        (["t.csv", "--target", "y", "--ranker", "relief"], "unknown ranker 'relief'; did you mean"),
        (["t.csv", "--target", "y", "--ranker", "random_forest"], "Random forest takes no missing values"),
        (["t.csv", "--targe", "y"], "did you mean --target"),
        (["t.csv", "--target", "y", "--folds", "1"], "a whole number from 2 on, not '1'"),
        (["t.csv", "--target", "y", "--encoding", "utf-99"], "--encoding utf-99: there is no such encoding"),
        (
            ["t.csv", "--target", "y", "--out", "t.csv"],
            "there is a file of that name; name another one with --out",
        ),
        (
            ["t.csv", "--target", "a", "--ranker", "surf_star"],
            "SURF* takes no numeric target; use --ranker relieff (RReliefF) or multisurf",
        ),
    ],
)
def test_bad_input_is_answered_with_what_to_type(run, typed, said):
    frame = small(y=["u", "v"] * 12, e=1.5, n=[f"n{place}" for place in range(24)])
    frame.loc[3, "b"] = np.nan
    frame.to_csv("t.csv", index=False)
    code, _, err = run(*typed)
    assert code == 2 and said.replace("{rank}", program("rank")) in err
    assert err.startswith("error: ") and len(err.splitlines()) <= 2 and "dataset." not in err
    assert not Path("results").exists() or not list(Path("results/rank").iterdir())


@pytest.mark.parametrize(
    ("text", "typed", "said"),
    [
        ("", [], "t.csv holds no table: it is empty; give it a line of names and a line for each sample"),
        (
            "a,y\n1,u\n2,v,w\n",
            [],
            "line 1 has 2, line 3 3; take out what is too many, or put a cell that",
        ),
        ('a,y\n1,u\n"2,v\n3,u\n', [], "line 3: a quotation mark opens a cell that does not end"),
        (
            "a,b,y\n1,2,u\n1,u\n2,3,v\n",
            [],
            "t.csv, line 3 (2 of 3 cells): column 'b' holds 'u' among numbers",
        ),
        ("a,y\n1,1.5\n2,2.5\n", ["--as", "numbers"], "has 2 samples; a numeric target needs 4 or more"),
        (
            "a,y\n1,1.5\n2,2.5\n",
            [],
            "choose another column, or say that these are numbers: --as numbers",
        ),
        ("a,y\n1,k\n2,l\n", [], "which are no classes; choose another column\n"),
        (
            "id,y\nP1,u\nP2,v\n",
            [],
            "left that could be a feature: 'id' was taken for names of the samples; --keep id keeps it",
        ),
        (
            ",y,nr\nP1,u,7\nP2,v,9\n",
            [],
            "'number 1' and 'nr' were taken for names of the samples; --keep 'number 1' --keep nr keeps them",
        ),
        ("y\nu\nv\n", ["--delimiter", ","], "no column is left that could be a feature\n"),
    ],
)
def test_tables_that_are_none_are_named_with_their_line(run, text, typed, said):
    Path("t.csv").write_text(text, encoding="utf-8")
    code, _, err = run("t.csv", "--target", "y", *typed)
    assert code == 2 and said in err
    assert "pandas" not in err and "tokenizing" not in err and "No columns to parse" not in err
    assert err.startswith("error: ") and len(err.splitlines()) == 1


@pytest.mark.parametrize(("name", "kind"), [("t.xlsx", "a spreadsheet"), ("t.parquet", "a Parquet file")])
def test_files_of_another_kind_are_named(run, name, kind):
    for content, why in ((b"", "the file is empty"), (b"a,y\n1,u\n", "it is of another kind, or damaged; ")):
        Path(name).write_bytes(content)
        code, _, err = run(name, "--target", "y")
        assert code == 2 and f"{name} cannot be read as {kind} ({why}" in err and len(err.splitlines()) == 1


def test_one_class_is_one_class(run):
    small(y="u")
    code, out, err = run("t.csv", "--target", "y")
    assert code == 2 and "target 'y': 1 class: u (24)\n" in out and "holds one class only" in err


def test_a_line_for_each_feature_is_told_of_with_the_option(run):
    small(y=["u", "v"] * 12).rename(index="s{}".format).T.to_csv("t.csv")
    code, _, err = run("t.csv", "--target", "y")
    assert code == 2 and err.endswith(
        "t.csv has no column 'y' (--target) among its 25; line 6 begins with it: if the table has a line for each "
        "feature, such as genes × samples, type --transpose\n"
    )
    code, out, err = run("t.csv", "--target", "y", "--transpose")
    assert (code, err) == (0, "") and (
        "line 'number 1' holds another value in each column: taken as sample names, not as a feature; "
        "--keep 'number 1' keeps it\n"
    ) in out
    small("u.csv", y=["u", "v"] * 12)
    code, _, err = run("u.csv", "--target", "y", "--transpose")
    assert code == 2 and "begins with it" in err and "leave --transpose out\n" in err
    Path("s.csv").write_text("g;s1;s2\na;1;2\ny;u;v\n")
    code, _, err = run("s.csv", "--target", "y", "--transpose")
    assert code == 2 and "so is ',' what separates the cells (--delimiter semicolon)?" in err


@pytest.mark.parametrize("word", ["<0.5", "n/a, see note", 'in "mm"', "it's", "#DIV/0!", "-", "$x"])
@pytest.mark.parametrize("given", [[], ["--na-values", "NA,-9"]])
def test_a_word_that_is_proposed_comes_with_those_in_force(run, word, given, undrawn):
    small(y=["u", "v"] * 12, n=["NA", word, *map(str, np.arange(22) / 8)])
    typed = ["t.csv", "--target", "y"]
    code, _, err = run(*typed, *given)
    proposed = re.search(r"if it means a missing value, (--na-values.*)", err)[1]
    code, out, err = run(*typed, *shlex.split(proposed))
    assert (code, err) == (0, "") and "2 values missing" in out


@pytest.mark.parametrize(("n", "n_folds"), [(4, 2), (7, 3)])
def test_few_samples_with_a_numeric_target_have_two_in_each_fold(run, n, n_folds):
    frame = small().head(n).assign(age=np.arange(n) * 1.5)
    frame.to_csv("t.csv", index=False)
    code, out, err = run("t.csv", "--target", "age", "--as", "numbers", "--folds", "10")
    assert (code, err) == (0, "") and f"\n{n_folds} folds, not 10: R² takes two samples in each\n" in out
    assert pd.read_csv("results/rank/t/curve.csv")["score"].notna().all()


@pytest.mark.parametrize(("n", "key"), [(2000, "multisurf"), (2001, "relieff")])
def test_the_ranker_goes_by_the_number_of_samples(n, key):
    X = np.zeros((n, 12))
    table = Table("t.csv", "", X, tuple("abcdefghijkl"), {}, "classes", np.arange(n) % 2, ("y",))
    chosen, block, why = ranking.chosen_ranker(table, parser().parse_args(["t.csv", "--target", "y"]))
    assert chosen == key and f"{n} samples" in why
    assert "missing" not in block and "discrete_features" not in block


@pytest.mark.parametrize(
    ("n", "p", "k"), [(60, 5, 10), (100, 6, 12), (600, 9, 75), (60, 6, None), (1000, 10, None)]
)
def test_few_features_for_so_many_samples_have_a_quarter_of_the_smallest_class_as_neighbours(n, p, k):
    table = Table(
        "t.csv", "", np.zeros((n, p)), tuple("abcdefghij"[:p]), {}, "classes", np.arange(n) % 2, ("y",)
    )
    chosen, block, why = ranking.chosen_ranker(table, parser().parse_args(["t.csv", "--target", "y"]))
    assert chosen == ("multisurf" if k is None else "relieff") and block.get("n_neighbors") == k
    assert k is None or f"{p} features" in why


def drawn(features, number, chances, rng):
    """Return p and numbers used as a test gives them whose permutations are larger with these chances."""
    p, used = np.empty(len(features)), np.full(len(features), number)
    for place, feature in enumerate(features):
        larger = np.flatnonzero(np.random.default_rng([rng, feature]).random(number) < chances[feature])
        stopped = len(larger) >= 10
        used[place] = larger[9] + 1 if stopped else number
        p[place] = 10 / used[place] if stopped else (1 + len(larger)) / (1 + number)
    return p, used


def test_more_permutations_find_few_among_many_and_p_holds():
    rng = np.random.default_rng(0)
    small = np.zeros(5)
    for seed in range(5):
        chances = np.concatenate([np.zeros(4), rng.random(1996)])  # the chance of a noise feature is uniform
        calls = []

        def again(features, number, chances=chances, seed=seed, calls=calls):
            calls.append((len(features), number))
            p, used = np.full(2000, np.nan), np.zeros(2000, dtype=int)
            p[features], used[features] = drawn(features, number, chances, seed)
            return SimpleNamespace(p_values=p, n_used=used)

        first = drawn(np.arange(2000), 1000, chances, seed)
        p, used = ranking.with_more_permutations(*first, again, lambda features, number: True)
        q = false_discovery_control(p)
        assert (q[:4] <= 0.1 + 1e-12).all() and (p[:4] == 1 / (used[:4] + 1)).all()
        assert all(features * number <= 10 * 2000 + 2000 for features, number in calls)
        small[seed] = (p[4:] <= 0.05).mean()
    assert small.mean() <= 0.05 + 3 * np.sqrt(0.05 * 0.95 / (5 * 1996))
    with pytest.warns(UserWarning, match="n_permutations="):
        kept, _ = ranking.with_more_permutations(*first, again, lambda features, number: False)
    assert (kept == first[0]).all()


def test_noise_beside_a_strong_feature_has_no_small_p(run):
    rng = np.random.default_rng(0)
    y = np.arange(120) % 2
    sex = np.where(rng.random(120) < 0.97, y, 1 - y)
    frame = pd.DataFrame(
        {"sex": sex, "age": rng.integers(20, 90, 120), "bmi": rng.normal(25, 4, 120), "y": y}
    )
    frame.to_csv("t.csv", index=False)
    code, out, _ = run("t.csv", "--target", "y", "--permutations", "200", "--ranker", "multisurf")
    found = pd.read_csv("results/rank/t/ranking.csv").set_index("feature")
    assert code == 0 and (found.loc[["age", "bmi"], "p"] > 0.02).all()  # 0.005 with the target permuted
    assert "tested: each feature is independent of the other features and the target" in out
    assert found.loc["sex", "q alone"] < 1e-10
    # MultiSURF puts it last: near samples agree in it. The page says so.
    assert found.index[-1] == "sex"
    assert "Look again:\nStrong alone, but with a large q or low in the ranking: 'sex' (rank 3" in out
    assert "With 3 features Relief needs more" in out
    assert "Look again" in Path("results/rank/t/index.html").read_text(encoding="utf-8")
    code, out, _ = run("t.csv", "--target", "y", "--permutations", "0", "--out", "default")
    assert code == 0 and "Look again" not in out
    assert pd.read_csv("default/ranking.csv")["feature"][0] == "sex"


@pytest.mark.parametrize("share", [0.5, 0.85])
def test_noise_is_said_to_be_no_better_than_guessing(run, share):
    rng = np.random.default_rng(5)
    frame = pd.DataFrame(rng.normal(size=(120, 4)).round(3), columns=list("abcd"))
    frame.assign(y=(np.arange(120) >= 120 * share).astype(int)).to_csv("t.csv", index=False)
    code, out, _ = run("t.csv", "--target", "y", "--permutations", "0", "--subsamples", "0")
    assert code == 0 and "No number of features does clearly better than guessing the largest class." in out
    assert f"; guessing the largest class gives {share:.3f} (mean" in out and "Keep the best" not in out


def test_few_groups_that_can_be_exchanged_bound_p(run):
    rng = np.random.default_rng(6)
    frame = pd.DataFrame(
        {"pat": np.repeat(list("pqrs"), 10), "a": rng.normal(size=40), "b": rng.normal(size=40)}
    )
    frame.assign(y=rng.integers(0, 2, 40)).to_csv("t.csv", index=False)
    code, out, _ = run("t.csv", "--target", "y", "--groups", "pat", "--folds", "2", "--permutations", "50")
    assert code == 0 and "can be exchanged in 24 ways only: no p of a feature" in out and "about 0.042" in out


def test_features_that_act_together_are_kept_and_named(run):
    rng = np.random.default_rng(1)
    X = rng.normal(size=(600, 12)).round(3)
    y = (X[:, 3] * X[:, 7] > 0).astype(int)
    pd.DataFrame(X, columns=list("abcdefghijkl")).assign(y=y).to_csv("t.csv", index=False)
    code, out, _ = run("t.csv", "--target", "y", "--folds", "5")
    assert code == 0 and "Keep the best 2 of 12 features." in out
    assert "From 1 to 2 features nearest neighbours gain" in out and "act together" in out
    assert set(pd.read_csv("results/rank/t/ranking.csv")["feature"][:2]) == {"d", "h"}
    X[:, 0] += 2 * y  # a single feature, in a straight line
    pd.DataFrame(X, columns=list("abcdefghijkl")).assign(y=X[:, 0] > 0).to_csv("u.csv", index=False)
    code, out, _ = run("u.csv", "--target", "y", "--folds", "5")
    assert code == 0 and "act together" not in out


def test_groups_stay_together_and_are_no_feature(run):
    rng = np.random.default_rng(0)
    patient = np.repeat(np.arange(20), 5)
    X = rng.normal(size=(20, 10))[patient] + 0.1 * rng.normal(size=(100, 10))
    frame = pd.DataFrame(X, columns=list("abcdefghij")).assign(patient=100 + patient, y=patient % 2)
    frame.to_csv("t.csv", index=False)
    typed = ["t.csv", "--target", "y", "--permutations", "200", "--subsamples", "10", "--folds", "10"]
    code, out, _ = run(*typed)
    assert code == 0 and "caution: column 'patient' looks like a group: 20 values with 5 rows each" in out
    alone = pd.read_csv("results/rank/t/ranking.csv").set_index("feature")
    code, out, err = run(*typed, "--groups", "patient")
    assert (code, err) == (0, "") and "caution" not in out
    assert "100 samples, 10 features, 20 groups of samples that stay together" in out
    assert "over 10 halves of the groups: Phi" in out
    (folder,) = (each for each in Path("results/rank").iterdir() if each.name != "t")
    assert "10 random halves of the groups in" in (folder / "index.html").read_text(encoding="utf-8")
    together = pd.read_csv(folder / "ranking.csv").set_index("feature")
    assert "patient" in alone.index and "patient" not in together.index
    noise = list("abcdefghij")
    assert (alone.loc[noise, "p"] <= 0.05).mean() > 0.5 and (together.loc[noise, "p"] <= 0.05).mean() <= 0.1
    X, y = frame[noise].groupby(patient).mean(), np.arange(20) % 2
    expected = [kruskal(X[y == 0][name], X[y == 1][name]).pvalue for name in noise]
    np.testing.assert_allclose(together.loc[noise, "p alone"], expected, rtol=1e-9)


@pytest.mark.parametrize(
    ("values", "said"),
    [([1] * 24, "has one group only"), ([None, *range(23)], "line 2: no group in column 'g'")],
)
def test_groups_that_are_none_are_refused(run, values, said):
    small(y=["u", "v"] * 12, g=values)
    code, _, err = run("t.csv", "--target", "y", "--groups", "g")
    assert code == 2 and said in err


def test_p_is_from_as_many_samples_as_the_budget_allows():
    rng = np.random.default_rng(0)
    n = 3000
    y = np.where(np.arange(n) % 10 == 0, 1, 0)
    table = Table("t.csv", "", rng.normal(size=(n, 20)), tuple(map(str, range(20))), {}, "classes", y, ("y",))
    every, way = ranking.tested_samples(table, ReliefF(), 1e6, 1000, 0)
    assert (len(every), way) == (n, "feature")
    rows, way = ranking.tested_samples(table, ReliefF(), 30, 1000, 0)
    assert way == "feature" and 500 <= len(rows) < n and len(np.unique(rows)) == len(rows)
    assert abs(y[rows].mean() - 0.1) < 0.002
    assert predicted_seconds(ReliefF(), table.X[rows], y[rows], 1000) <= 30
    assert (rows == ranking.tested_samples(table, ReliefF(), 30, 1000, 0)[0]).all()
    grouped = replace(table, groups=np.arange(n) // 7)
    rows, _ = ranking.tested_samples(grouped, ReliefF(), 30, 1000, 0)
    sizes = np.bincount(grouped.groups)
    assert all(
        np.bincount(grouped.groups[rows], minlength=len(sizes))[i] in (0, sizes[i]) for i in range(len(sizes))
    )
    assert ranking.tested_samples(table, ReliefF(), 0.01, 1000, 0)[1] == "target"


def test_numbers_do_not_depend_on_the_threads(run):
    rng = np.random.default_rng(0)
    pd.DataFrame(rng.normal(size=(80, 4)), columns=list("abcd")).assign(y=[0, 1] * 40).to_csv(
        "t.csv", index=False
    )
    for jobs in ("1", "2"):
        typed = ["--permutations", "100", "--subsamples", "10", "--jobs", jobs, "--out", f"out{jobs}"]
        assert run("t.csv", "--target", "y", *typed)[0] == 0
    for name in ("ranking.csv", "curve.csv"):
        assert Path("out1", name).read_bytes() == Path("out2", name).read_bytes()


def test_labels_are_refused_by_a_ranker_of_classes(run):
    frame = small()
    frame["red"], frame["round"] = (frame["a"] > 0).astype(int), (frame["c"] > 0).astype(int)
    frame.to_csv("t.csv", index=False)
    code, _, err = run("t.csv", "--target", "red,round", "--ranker", "surf_star")
    assert code == 2 and err.startswith("error: SURF* cannot rank this table: SURF* ")
    assert not Path("results/rank").exists()


def test_what_the_library_says_while_it_works_is_shown(run, monkeypatch):
    def fit(block, X, y, seed):
        logging.getLogger("reliefe").info("compiling kernels, once per installation")
        return rank(block, X, y, seed)

    rank = ranking.rank
    monkeypatch.setattr(ranking, "rank", fit)
    small(y=["u", "v"] * 12)
    code, out, err = run("t.csv", "--target", "y")
    assert (code, err) == (0, "") and "\ncompiling kernels, once per installation\n" in out
    assert not logging.getLogger("reliefe").isEnabledFor(logging.INFO)


def test_help_names_every_option(run, capsys):
    assert command.main(["--help"]) == 0
    said = capsys.readouterr().out
    for name in (
        "--target",
        "--ranker",
        "--transpose",
        "--keep",
        "--na-values",
        "--encoding",
        "--out",
        "--seed",
    ):
        assert name in said
    assert f"{program('rank')} my.csv --target class" in said


def test_p_belongs_to_the_weight_beside_it_where_the_ranker_has_a_seed(run):
    frame = small(y=["u", "v"] * 12)
    typed = ["--ranker", "random_forest", "--permutations", "20", "--subsamples", "0", "--seed", "3"]
    code, _, err = run("t.csv", "--target", "y", *typed)
    assert (code, err) == (0, "")
    found = pd.read_csv("results/rank/t/ranking.csv").set_index("feature")
    X, y = frame.drop(columns="y"), (frame["y"] == "v").to_numpy().astype(int)
    forest = RandomForestClassifier(random_state=3)
    expected = permutation_test(forest, X.to_numpy(float), y, n_permutations=20, random_state=3)
    np.testing.assert_allclose(found.loc[X.columns, "weight"], expected.weights, rtol=1e-12)
    np.testing.assert_allclose(found.loc[X.columns, "p"], expected.p_values, rtol=1e-12)


def test_a_ranker_that_gives_other_weights_when_fitted_again_has_no_p(run, monkeypatch):
    small(y=["u", "v"] * 12)
    fits = []

    def rank(*given):
        fits.append(1)
        found = whole(*given)
        return replace(found, weights=found.weights + 0.01 * len(fits))

    whole = ranking.rank
    monkeypatch.setattr(ranking, "rank", rank)
    code, out, err = run("t.csv", "--target", "y", "--permutations", "5", "--subsamples", "0")
    assert code == 0 and "gives other weights when it is fitted again" in out + err
    assert "p" not in pd.read_csv("results/rank/t/ranking.csv")


def test_features_of_one_value_each_are_refused(run):
    pd.DataFrame({"a": [1] * 8, "b": [2] * 8, "y": ["u", "v"] * 4}).to_csv("t.csv", index=False)
    code, _, err = run("t.csv", "--target", "y")
    assert code == 2 and "t.csv can be ranked: each has one value only" in err
    assert not Path("results").exists()


def test_classes_are_proposed_for_numbers_only_where_they_are_taken(run):
    frame = small()
    for values, taken in ((np.arange(24) * 1.5, False), (np.arange(24) % 3 / 2, True)):
        frame.assign(y=values).to_csv("t.csv", index=False)
        _, out, _ = run("t.csv", "--target", "y", "--as", "numbers")
        assert ("--as classes" in out) == taken
        code, _, err = run("t.csv", "--target", "y", "--as", "numbers", "--ranker", "random_forest")
        assert code == 2 and ("--as classes" in err) == taken
        assert (run("t.csv", "--target", "y", "--as", "classes")[0] == 0) == taken
