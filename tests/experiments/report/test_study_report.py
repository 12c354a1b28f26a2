"""The report of a whole study: which files, what is in them, and that posteriors are sampled once."""

import io
import json
import re

import numpy as np
import pandas as pd
import pytest
from boxes import texts
from folders import PROJECT_ROOT
from made_up_rows import MCC_DATASETS, RANKERS, store, study
from matplotlib.figure import Figure

from experiments import report
from experiments.analysis import bayes
from experiments.analysis.claims.check import COLUMNS
from experiments.analysis.comparison import compare
from experiments.analysis.data_sets import dataset_table
from experiments.analysis.groups import groups_of
from experiments.analysis.pairs import PAPER_PAIRS, ROPE, pairs_of
from experiments.analysis.scores import MEASURES, score_table
from experiments.analysis.selection import complete_rows
from experiments.config.compose import compose_runs
from experiments.errors import BadScoresError
from experiments.figures import style
from experiments.metrics.stability import orders, top_sets
from experiments.report import posteriors
from experiments.report import study as whole_study
from experiments.report.page import number
from experiments.report.tables import write_csv
from reliefe.inspection import selection_stability

pytestmark = pytest.mark.slow

FEW = {"n_repeats": 1, "n_splits": 3}
SOME = {name: RANKERS[name] for name in ("reliefe", "relieff", "skrebate_surf", "random_forest")}


class Answer:
    """What the sampler would say."""

    max_rhat, min_ess, divergences, n_drawn = 1.001, 5000.0, 0, 4000

    def __init__(self, x, y):
        above = float(np.mean(np.asarray(x) - np.asarray(y) > ROPE))
        self.sample = np.tile([above, 1 - above, 0.0], (4000, 1))

    def probs(self):
        return tuple(self.sample.mean(axis=0))


@pytest.fixture
def asked(monkeypatch):
    """Stands in for the sampler, which has tests of its own; holds the batches it was asked for."""
    batches = []

    def tests(pairs, rope, runs, n_samples, random_state, names):
        batches.append(list(names))
        assert rope == 0.05
        return [Answer(x, y) for x, y in pairs]

    monkeypatch.setattr(bayes, "hierarchical_tests", tests)
    return batches


def write(made, configs, results, **settings):
    return whole_study.write(made, configs, results, **settings)


def names_of(files):
    return sorted(file.name for file in files)


# --- which files ---


def test_a_study_gets_every_table_and_figure(tmp_path, asked):
    made, configs = study(["d", "e"], SOME, name="mine", **FEW)
    found = write(made, configs, tmp_path)
    diagrams = [f"critical_distance_{m}" for m in ("best_f1", "mean_f1", "best_f1_top_50", "best_f1_top_100")]
    figures = [
        *diagrams,
        "critical_distance_fit_seconds",
        "times",
        "aurf1",
        "aufuji_curves",
        "aufuji_weights",
    ]
    assert [each.figure for each in found.drawn] == [*figures, "posterior"]
    for each in found.drawn:
        png, svg = each.files
        assert (png, svg) == tuple(
            tmp_path / "figures" / f"mine_{each.figure}.{end}" for end in ("png", "svg")
        )
        assert png.read_bytes().startswith(b"\x89PNG") and b"</svg>" in svg.read_bytes()
    tables = ["datasets", "ranks", "aurf1", "best_f1", "fit_seconds", "posterior", "stability", "missing"]
    tables += ["best_features", "scores", "aufuji_curves", "aufuji_weights", "claims"]
    names = [f"mine_{name}.csv" for name in tables]
    names += [f"mine_{name}.tex" for name in ("datasets", "ranks", "scores")]
    assert names_of(file for file in found.written if file.parent.name == "tables") == sorted(names)
    assert all(file.is_file() for file in found.written)
    assert (tmp_path / "tables" / "mine_posterior.npz").is_file()


def test_labels_have_the_diagrams_of_labels(tmp_path, asked, undrawn):
    made, configs = study(["d", "e"], SOME, task="multilabel", name="mine", **FEW)
    found = write(made, configs, tmp_path)
    assert [each.figure for each in found.drawn][:2] == [
        "critical_distance_best_f1_top_10",
        "critical_distance_mean_f1_top_10",
    ]


def test_two_reports_are_the_same_bytes(tmp_path, asked):
    made, configs = study(["d", "e"], SOME, **FEW)
    for place in ("one", "two"):
        write(made, configs, tmp_path / place)
    for file in (tmp_path / "one").rglob("*.*"):
        if file.suffix != ".npz":
            assert (
                file.read_bytes() == (tmp_path / "two" / file.relative_to(tmp_path / "one")).read_bytes()
            ), file


def test_different_kinds_of_targets_do_not_share_files(tmp_path, asked, undrawn):
    one, configs = study(["d", "e"], SOME, name="s", **FEW)
    other, more = study(["f", "g"], SOME, task="multilabel", name="s", **FEW)
    found = write(pd.concat([one, other], ignore_index=True), [*configs, *more], tmp_path)
    stems = {each.stem for each in found.drawn}
    assert {"s_multiclass_times", "s_multilabel_times"} <= stems
    assert len(stems) == len(found.drawn)


# --- what is in tables ---


def test_scores_and_ranks_are_those_of_the_rows(tmp_path, asked, undrawn):
    made, configs = study(MCC_DATASETS[:4], SOME, name="s", **FEW)
    write(made, configs, tmp_path)
    scores = pd.read_csv(tmp_path / "tables" / "s_scores.csv")
    assert scores["measure"].unique().tolist() == list(MEASURES)
    wide = scores[scores["measure"] == "best_f1"].pivot(index="dataset", columns="ranker", values="mean")
    expected = made.groupby(["dataset", "ranker"])["best_f1_micro"].mean().unstack()
    pd.testing.assert_frame_equal(wide, expected, check_names=False)
    ranks = pd.read_csv(tmp_path / "tables" / "s_ranks.csv").set_index("ranker")
    own = expected.rank(axis=1, ascending=False).mean()
    assert ranks["best_f1"].to_dict() == pytest.approx(own.to_dict())
    seconds = made.groupby(["dataset", "ranker"])["fit_seconds"].mean().unstack().rank(axis=1).mean()
    assert ranks["fit_seconds"].to_dict() == pytest.approx(seconds.to_dict())


def test_what_is_missing_stands_below_every_figure_and_table(tmp_path, asked, monkeypatch):
    drawn, save = [], style.save
    monkeypatch.setattr(style, "save", lambda figure, *place: drawn.append(figure) or save(figure, *place))
    states = {("d", "skrebate_surf"): "timeout", ("f", "*"): "missing"}
    made, configs = study(["d", "e", "f", "g"], SOME, name="s", states=states, **FEW)
    found = write(made, configs, tmp_path, absent={"f": "no file; looked at some/where"})
    assert len(drawn) == len(found.drawn) >= 10
    for figure, each in zip(drawn, found.drawn, strict=True):
        assert isinstance(figure, Figure)
        words = " ".join(texts(figure).split())
        for told in ("data sets not available: f.", "SURF (skrebate): d (stopped by the time limit)."):
            assert told in words and told in " ".join(each.note.split()), each.figure
        assert "some/where" not in words
    for name in ("ranks", "scores", "datasets"):
        text = (tmp_path / "tables" / f"s_{name}.tex").read_text(encoding="utf-8")
        assert "SURF (skrebate): d (stopped by the time limit)" in text, name
    missing = pd.read_csv(tmp_path / "tables" / "s_missing.csv")
    assert missing["state"].value_counts().to_dict() == {"absent": 4, "timeout": 1}


def test_means_are_over_common_data_sets_and_say_so(tmp_path, asked, undrawn):
    made, configs = study(["d", "e", "f"], SOME, name="s", states={("d", "relieff"): "failed"}, **FEW)
    found = write(made, configs, tmp_path)
    note = next(each.note for each in found.drawn if each.figure == "times")
    assert "mean over 2 data sets (e, f)" in note
    assert "Data sets that some ranker lacks, not in the mean: d." in note
    means = pd.read_csv(tmp_path / "tables" / "s_fit_seconds.csv").set_index("ranker")
    mine = made[(made["ranker"] == "reliefe") & (made["dataset"] != "d")]
    assert means.loc["reliefe", "mean"] == pytest.approx(mine.groupby("dataset")["fit_seconds"].mean().mean())


def test_stability_of_every_ranker_and_data_set_is_in_tables(tmp_path, asked, undrawn):
    states = {("e", "relieff"): "timeout"}
    made, configs = study(["d", "e", "f"], SOME, name="s", states=states, **FEW)
    rng = np.random.default_rng(0)
    mine = made.index[(made["ranker"] == "reliefe") & (made["dataset"] == "d")]
    for place in mine:
        made.at[place, "weights"] = rng.random(200)
    for place in made.index[made["dataset"] == "f"]:
        made.at[place, "weights"] = None
    write(made, configs, tmp_path)
    csv = pd.read_csv(tmp_path / "tables" / "s_stability.csv", keep_default_na=True).set_index(
        ["dataset", "ranker"]
    )
    assert len(csv) == 12
    own = selection_stability(top_sets(orders(np.stack(made.loc[mine, "weights"])), 10))
    names = ["phi_top_10", "phi_top_10_lower", "phi_top_10_upper"]
    assert csv.loc[("d", "reliefe"), names].tolist() == pytest.approx(list(own))
    assert csv.loc[("e", "reliefe"), ["aufuji", *names]].tolist() == [1, 1, 1, 1]
    assert csv.loc[("e", "relieff"), "reason"] == "3 of 3 folds timed out: RankerError: made up to be timeout"
    assert csv.loc["f", "aufuji"].isna().all() and set(csv.loc["f", "reason"]) == {"the rows hold no weights"}


def test_the_table_of_data_sets_shows_where_the_papers_numbers_differ(tmp_path, asked, undrawn):
    made, configs = study(["d", "e"], SOME, name="s", **FEW)
    for each in configs:
        if each["dataset_key"] == "d":
            paper = {"rows": 600, "features": 400, "classes": 3, "nonzero_share": 0.5}
            each["dataset"] |= {"paper": paper, "differs": "coded twice & so on"}
    write(made, configs, tmp_path)
    csv = pd.read_csv(tmp_path / "tables" / "s_datasets.csv").set_index("dataset")
    assert csv.loc["d", ["rows", "features", "paper_features"]].tolist() == [600, 200, 400]
    assert np.isnan(csv.loc["e", "paper_rows"])
    text = (tmp_path / "tables" / "s_datasets.tex").read_text(encoding="utf-8")
    assert r"d & 600 & 200 (400) & 3 & 1.000000 (0.500000) \\" in text
    assert r"e & 600 & 200 & 3 & 1.000000 \\" in text


def test_the_projects_own_data_sets_have_the_papers_numbers():
    for name, n in (("mcc", 11), ("mlc", 9)):
        (group,) = groups_of(compose_runs([f"study={name}"]).configs)
        table = dataset_table(study(["d"], ["a"])[0], group)
        assert len(table) == n and table[["paper_rows", "paper_features"]].notna().all(axis=None)
        other = table["features"] != table["paper_features"]
        assert (table.loc[other, "differs"] != "").all()


# --- LaTeX ---


def test_latex_is_balanced_and_needs_only_booktabs(tmp_path, asked, undrawn):
    made, configs = study(["a_b", "c&d%"], {"x_y": ("X_{y} #", 0, 1), "z": ("Z$", 0.1, 2)}, name="s", **FEW)
    write(made, configs, tmp_path)
    files = list((tmp_path / "tables").glob("*.tex"))
    assert len(files) == 3
    for file in files:
        text = file.read_text(encoding="utf-8")
        text = "".join(line for line in text.splitlines(keepends=True) if not line.startswith("%"))
        bare = re.sub(r"\\[{}$&%#_]", "", text)
        assert bare.count("{") == bare.count("}") and bare.count("$") % 2 == 0
        assert re.findall(r"\\begin{(\w+)}", text) == list(reversed(re.findall(r"\\end{(\w+)}", text)))
        body = text.partition(r"\midrule")[2].partition(r"\bottomrule")[0].strip().splitlines()
        n_columns = re.search(r"\\begin{tabular}{(.*)}\n", text)[1]
        n_columns = n_columns.count("p{") or len(n_columns)
        for line in body:
            assert len(re.findall(r"(?<!\\)&", line)) == n_columns - 1, (file, line)


def test_a_table_is_written_whole_with_all_digits(tmp_path):
    write_csv(pd.DataFrame({"a": [1 / 3]}), tmp_path, "x")
    assert (tmp_path / "tables" / "x.csv").read_text() == f"a\n{1 / 3!r}\n"


# --- posteriors ---


def posteriors_of(made, configs, results, **settings):
    (group,) = groups_of(configs)
    return posteriors.of_group(made, group, results, **settings)


def test_pairs_are_the_folds_of_both_on_common_data_sets():
    made, configs = study(["d", "e", "f"], SOME, states={("e", "relieff"): "failed"}, n_repeats=2, n_splits=3)
    (group,) = groups_of(configs)
    made = made.sample(frac=1, random_state=0)  # whatever the order of the rows
    pairs, not_tested = pairs_of(complete_rows(made, group.expected), list(SOME))
    assert not not_tested and len(pairs) == 6
    pair = next(each for each in pairs if (each.a, each.b) == ("reliefe", "relieff"))
    assert (pair.datasets, pair.left_out, pair.runs, pair.x.shape) == (("d", "f"), ("e",), 2, (2, 6))
    for ranker, scores in ((pair.a, pair.x), (pair.b, pair.y)):
        for dataset, line in zip(pair.datasets, scores, strict=True):
            mine = made[(made["dataset"] == dataset) & (made["ranker"] == ranker)].sort_values(
                ["repeat", "fold"]
            )
            assert line.tolist() == mine["best_f1_micro"].tolist()


def test_the_papers_pairs_come_first_and_as_the_paper_has_them():
    made, configs = study(["d", "e"], **FEW)
    (group,) = groups_of(configs)
    pairs, _ = pairs_of(complete_rows(made, group.expected), list(RANKERS))
    assert tuple((pair.a, pair.b) for pair in pairs[:10]) == PAPER_PAIRS
    assert len(pairs) == 91 and len({frozenset((pair.a, pair.b)) for pair in pairs}) == 91


def test_of_too_many_pairs_the_best_rankers_are_tested():
    rankers = {f"r{place:02}": (f"R{place}", 0.02 * place, 1.0) for place in range(20)}
    made, configs = study(["d", "e"], rankers, noise=0.001, **FEW)
    (group,) = groups_of(configs)
    pairs, not_tested = pairs_of(complete_rows(made, group.expected), list(rankers))
    assert len(pairs) == 91 and not_tested == [f"r{place:02}" for place in range(6)]


def test_one_data_set_is_not_tested(tmp_path, asked, undrawn):
    made, configs = study(["d", "e"], SOME, name="s", states={("e", "relieff"): "failed"}, **FEW)
    found = posteriors_of(made, configs, tmp_path)
    assert len(found.table) == 3 and "relieff" not in {name for pair in asked[0] for name in pair}
    made, configs = study(["d"], SOME, name="s", **FEW)
    assert posteriors_of(made, configs, tmp_path) is None
    drawn = write(made, configs, tmp_path).drawn
    assert drawn[-1].figure == "posterior" and len(asked) == 1


def test_posteriors_are_sampled_once(tmp_path, asked):
    made, configs = study(["d", "e"], SOME, **FEW)
    told = []
    first = posteriors_of(made, configs, tmp_path, say=told.append)
    assert [len(batch) for batch in asked] == [6] and "6 pairs of rankers" in told[0]
    again = posteriors_of(made, configs, tmp_path, say=told.append)
    assert len(asked) == 1 and len(told) == 1
    pd.testing.assert_frame_equal(first.table, again.table)
    for pair, draws in first.draws.items():
        np.testing.assert_array_equal(draws, again.draws[pair])
        assert draws.shape == (1000, 3)


def test_only_what_has_changed_is_sampled_again(tmp_path, asked, monkeypatch):
    made, configs = study(["d", "e"], SOME, **FEW)
    posteriors_of(made, configs, tmp_path)
    changed = made.copy()
    at = changed.index[(changed["ranker"] == "relieff") & (changed["dataset"] == "e")][0]
    changed.at[at, "f1_micro"] = changed.at[at, "f1_micro"] + 1e-9
    posteriors_of(changed, configs, tmp_path)
    assert len(asked) == 2
    others = {name for pair in asked[1] for name in pair} - {"relieff"}
    assert len(asked[1]) == 3 and others == {*SOME} - {"relieff"}
    monkeypatch.setattr(posteriors, "_VERSION", 2)
    posteriors_of(changed, configs, tmp_path)
    assert len(asked[2]) == 6


def test_an_interrupted_report_goes_on_where_it_was(tmp_path, asked, monkeypatch):
    made, configs = study(["d", "e"], SOME, **FEW)
    monkeypatch.setattr(posteriors, "_AT_ONCE", 2)
    tests, calls = bayes.hierarchical_tests, []

    def interrupted(*args, **kwargs):
        calls.append(1)
        if len(calls) == 3:
            raise KeyboardInterrupt
        return tests(*args, **kwargs)

    monkeypatch.setattr(bayes, "hierarchical_tests", interrupted)
    with pytest.raises(KeyboardInterrupt):
        posteriors_of(made, configs, tmp_path)
    posteriors_of(made, configs, tmp_path)
    assert sorted(len(batch) for batch in asked) == [2, 2, 2]


@pytest.mark.parametrize("damage", [b"", b"nonsense", None])
def test_a_damaged_file_of_posteriors_is_made_again(tmp_path, asked, damage):
    made, configs = study(["d", "e"], SOME, **FEW)
    first = posteriors_of(made, configs, tmp_path)
    (file,) = (tmp_path / "tables").glob("*.npz")
    whole = file.read_bytes()
    file.write_bytes(whole[: len(whole) // 2] if damage is None else damage)
    again = posteriors_of(made, configs, tmp_path)
    assert len(asked) == 2
    pd.testing.assert_frame_equal(first.table, again.table)


def test_a_pair_that_cannot_be_tested_says_why_and_the_others_are(tmp_path, asked, monkeypatch, undrawn):
    made, configs = study(["d", "e"], SOME, name="s", **FEW)
    tests = bayes.hierarchical_tests

    def picky(pairs, *args, names, **kwargs):
        if ("reliefe", "relieff") in names:
            raise BadScoresError("reliefe and relieff: no luck")
        return tests(pairs, *args, names=names, **kwargs)

    monkeypatch.setattr(bayes, "hierarchical_tests", picky)
    found = write(made, configs, tmp_path)
    table = found.comparisons[0].posterior.table.set_index(["ranker_a", "ranker_b"])
    assert table.loc[("reliefe", "relieff"), "message"] == "reliefe and relieff: no luck"
    assert table["p_a"].isna().sum() == 1
    note = next(each.note for each in found.drawn if each.figure == "posterior")
    assert "ReliefE – ReliefF: reliefe and relieff: no luck" in note


def test_scores_that_are_equal_have_no_number_of_draws():
    x = np.full((2, 6), 0.5)
    found = posteriors._answer(bayes.hierarchical_test(x, x, ROPE, 2, 100))
    assert np.isnan(found["ess"]) and np.isnan(found["r_hat"]) and found["message"] == ""
    assert found["probabilities"].tolist() == [0, 1, 0]
    for missing in (np.inf, np.nan, None):
        assert number(missing, "inf") == "–"


def test_chains_that_do_not_agree_are_told(tmp_path, asked, monkeypatch):
    made, configs = study(["d", "e"], SOME, **FEW)
    monkeypatch.setattr(Answer, "max_rhat", 1.2)
    table = posteriors_of(made, configs, tmp_path).table
    assert table["message"].str.contains("R-hat 1.200").all()


def test_probabilities_of_a_turned_pair():
    made, configs = study(["d", "e"], SOME, **FEW)
    (group,) = groups_of(configs)
    pairs, _ = pairs_of(complete_rows(made, group.expected), list(SOME))
    from experiments.analysis.pairs import posteriors_of as together

    answers = [
        {"probabilities": (0.5, 0.3, 0.2), "draws": [], "r_hat": 1, "ess": 1, "divergences": 0, "n_draws": 1,
        "message": ""} for _ in pairs
    ]  # fmt: skip
    found = together(pairs, answers, {})
    assert found.of("reliefe", "relieff") == (0.5, 0.3, 0.2)
    assert found.of("relieff", "reliefe") == (0.2, 0.3, 0.5)
    assert np.isnan(found.of("reliefe", "nobody")).all()


def test_the_real_sampler_answers(tmp_path):
    made, configs = study(
        ["d", "e", "f"], {"good": ("Good", 0.3, 1), "bad": ("Bad", 0.0, 1)}, n_repeats=2, n_splits=5
    )
    found = posteriors_of(made, configs, tmp_path)
    (line,) = found.table.itertuples()
    assert (line.ranker_a, line.ranker_b) == ("good", "bad")
    assert line.p_a > 0.9 and line.p_a + line.p_rope + line.p_b == pytest.approx(1)
    assert line.r_hat < 1.01 and line.ess > 400
    draws = found.draws["good", "bad"]
    assert draws.shape == (1000, 3) and draws.sum(axis=1) == pytest.approx(1, abs=1e-5)
    assert found.sampling["rope"] == 0.05 and "numpyro" in found.sampling["sampler"]
    assert found.sampling["correlation of folds"] == "1 / 5"


# --- little to show ---


#: Data sets, rankers and what became of their cells.
LITTLE = {
    "empty": (["d", "e"], ["a", "b"], {("*", "*"): "missing"}),
    "failed": (["d", "e"], ["a", "b"], {("*", "*"): "failed"}),
    "timeout": (["d", "e"], ["a", "b"], {("*", "*"): "timeout"}),
    "one ranker": (["d", "e"], ["a"], {}),
    "one data set": (["d"], ["a", "b"], {}),
    "one cell": (["d"], ["a"], {}),
    "nothing in common": (["d", "e"], ["a", "b"], {("d", "a"): "missing", ("e", "b"): "failed"}),
    "holes": (["d", "e", "f"], ["a", "b", "c"], {("*", "c"): "one failed", ("e", "*"): "partial"}),
}


@pytest.mark.parametrize(
    ("task", "little"),
    [
        *(("multiclass", each) for each in LITTLE),
        *(("multilabel", each) for each in ("empty", "one cell", "holes")),
    ],
)
def test_little_to_show_is_shown(tmp_path, asked, little, task):
    datasets, rankers, states = LITTLE[little]
    made, configs = study(datasets, rankers, task=task, name="s", states=states, **FEW)
    out = io.StringIO()
    paths = {"results": str(tmp_path)}
    files = report.show(made, configs, paths, out, whole=True, arguments=["study=s"])
    assert files[-1] == tmp_path / "report" / "s.html"
    assert all(file.stat().st_size for file in files)
    assert len([file for file in files if file.suffix == ".svg" and file.name.startswith("s_")]) >= 9
    text = out.getvalue()
    assert str(files[-1]) in text
    missing = pd.read_csv(tmp_path / "tables" / "s_missing.csv")
    n_cells = len(datasets) * len(rankers)
    (group,) = groups_of(configs)
    n_there = int(compare(made, group).summary["complete"].sum())
    assert len(missing) == n_cells - n_there


def test_a_failing_write_is_a_clear_error(tmp_path, asked):
    from experiments.errors import BadInputError

    made, configs = study(["d"], ["a", "b"], **FEW)
    (tmp_path / "tables").write_text("a file where the folder should be")
    with pytest.raises(BadInputError, match="cannot be written"):
        write(made, configs, tmp_path)


def test_a_run_without_a_name_gets_a_page_and_no_more(tmp_path, asked):
    made, configs = study(["d"], ["a", "b"], **FEW)
    for each in configs:
        del each["study"]
    files = report.show(made, configs, {"results": str(tmp_path)}, io.StringIO(), whole=True)
    names = [str(file.relative_to(tmp_path)) for file in files]
    assert names == [
        "tables/d_paper_a+b.csv",
        "figures/d_paper_a+b_rf1.png",
        "figures/d_paper_a+b_rf1.svg",
        "tables/d_paper_a+b_best_features.csv",
        "report/d_paper_a+b.html",
    ]
    assert not asked


def test_claims_are_told_on_the_console(tmp_path, asked, undrawn):
    whole = {**FEW, "n_repeats": 10, "n_splits": 10}
    made, configs = study(["genes"], name="mcc", n_features=300, **whole)
    out = io.StringIO()
    report.show(made, configs, {"results": str(tmp_path)}, out, whole=True)
    text = " ".join(out.getvalue().split())
    assert "the paper's claims on these rows" in text
    assert re.search(r"genes: better than mutual information: 0\.\d+ against 0\.\d+", text)
    assert re.search(r"cannot be decided: \d+; of \d+ no whole cell is there", text)
    table = pd.read_csv(tmp_path / "tables" / "mcc_claims.csv", keep_default_na=False).set_index("claim")
    assert (
        table.loc["genes: better than mutual information", ["verdict", "at_hand"]].tolist() == ["holds"] * 2
    )


def test_claims_that_were_checked_on_more_rows_are_shown_and_not_written(tmp_path, asked, undrawn):
    made, configs = study(["chess"], SOME, name="mine", **FEW)
    line = dict.fromkeys(COLUMNS, "") | {"about": "mcc", "statement": "of all rows", "verdict": "holds"}
    more = pd.DataFrame([line, line | {"about": "mlc"}])
    found = write(made, configs, tmp_path, claims=more)
    assert found.claims["about"].tolist() == ["mcc"]
    assert not [file for file in found.written if "claims" in file.name]


def test_posteriors_of_claims_are_those_of_the_study_where_scores_are_the_same(tmp_path, asked):
    frame, _ = study(["d", "e", "f"], SOME, **FEW)
    pair = ("reliefe", "relieff")
    first = posteriors.of_pairs(frame, [pair], "one", tmp_path)
    assert asked == [[pair]] and first.n_datasets(*pair) == 3
    again = posteriors.of_pairs(frame, [pair], "other", tmp_path)
    assert len(asked) == 1 and again.of(*pair) == first.of(*pair), "kept for whoever has the same scores"
    # A data set with more repeats than another is compared on those that both have.
    more = frame[frame["dataset"] == "d"].assign(repeat=1)
    third = posteriors.of_pairs(pd.concat([frame, more]), [pair], "third", tmp_path)
    assert len(asked) == 1 and third.of(*pair) == first.of(*pair)
    one = frame[frame["dataset"] == "d"]
    assert posteriors.of_pairs(one, [pair], "fourth", tmp_path) is None
    assert posteriors.of_pairs(frame.iloc[:0], [pair], "fifth", tmp_path) is None


# --- side experiments ---


def measurement(kind, dataset, found, phase_seconds=None):
    from made_up import row

    return row("reliefe", dataset=dataset, protocol=kind) | {
        "kind": kind,
        "measurement": json.dumps(found),
        "phase_seconds": json.dumps(phase_seconds) if phase_seconds else None,
    }


def measuring(kind, datasets):
    return [
        {
            "study": kind,
            "dataset": {"name": dataset, "task": "multiclass"},
            "dataset_key": dataset,
            "ranker_key": "reliefe",
            "ranker": {"_target_": "reliefe.ReliefE", "display_name": "ReliefE"},
            "protocol": {
                "name": kind,
                "n_splits": 1,
                "n_repeats": 1,
                "measure": {"_target_": f"experiments.{kind}"},
            },
        }
        for dataset in datasets
    ]


POINTS = {"log_ratio": [0.1, 0.2, 0.4], "minus_log_rest": [0.3, 0.7, 1.1], "slope": 3.0}
MEASURED = {
    "sparsity": (
        {
            "epsilons": [0.1, 1.0],
            "share": 1.0,
            "shares": [1.0, 0.8],
            "epsilon_estimated": 0.5,
            "share_estimated": 0.9,
        },
        ["sparsity_epsilon", "sparsity_densities", "sparsity_densities_estimated"],
    ),
    "latent_dimension": (
        {"latent_dimension": 3, "ranked": POINTS, "normalised": POINTS, "raw": POINTS | {"slope": None}},
        ["latent_dimension_genes"],
    ),
    "adaptive_k": (
        {"class_sizes": [30, 40], "neighbors": [[1, 5], [30]], "counts": [[60, 40], [100]]},
        ["adaptive_k_densities"],
    ),
    "phases": ({"phases": ["weights"]}, ["phases_shares"]),
}


@pytest.mark.parametrize("kind", MEASURED)
def test_side_experiments_have_their_figures(tmp_path, kind):
    from made_up import frame

    found, stems = MEASURED[kind]
    seconds = {"embed": 3.0, "weights": 1.0, "total": 4.0}
    rows = frame([measurement(kind, "genes", found | {"sparsified": True}, seconds)])
    result = write(rows, measuring(kind, ["genes", "chess", "gone"]), tmp_path, absent={"gone": "some/where"})
    assert [each.stem for each in result.drawn] == stems
    for each in result.drawn:
        assert (
            "data sets not available: gone" in each.note and "chess × ReliefE: 0 of 1 are there" in each.note
        )
        assert "some/where" not in each.note
        assert all(file.is_file() for file in each.files)
    assert set(result.claims["about"]) == {kind}
    assert len(result.unmeasured) == 2
    empty = write(frame(), measuring(kind, ["genes"]), tmp_path / "empty")
    assert len(empty.drawn) == len(stems)


def test_iterations_have_one_figure_and_a_table(tmp_path):
    frames, configs = [], []
    for n in (1, 4, None):
        name = "relieff" if n is None else f"relieff[n_iterations={n}]"
        made, more = study(
            ["dlbcl"], {name: ("ReliefF", 0, 1)}, name="convergence", protocol="convergence", **FEW
        )
        more[0]["ranker"]["n_iterations"] = n
        frames.append(made)
        configs += more
    found = write(pd.concat(frames, ignore_index=True), configs, tmp_path)
    assert [each.stem for each in found.drawn] == ["convergence_convergence"]
    table = pd.read_csv(tmp_path / "tables" / "convergence_convergence.csv")
    assert table["n_iterations"].tolist() == [1, 4, 540]
    assert table["every_row"].tolist() == [False, False, True]
    assert table["mean"].tolist() == pytest.approx([each["aurf1_micro"].mean() for each in frames])


# --- from a store ---


def test_rows_of_a_store_are_reported(tmp_path, asked, undrawn):
    from experiments.execution.runner import collect_study

    made, configs = study(["d", "e"], SOME, name="s", states={("d", "relieff"): "failed"}, **FEW)
    placed = store(made, configs, tmp_path / "results")
    result = collect_study(placed)
    assert len(result.frame) == len(made)
    write(result.frame, placed, tmp_path / "results")
    table = pd.read_csv(tmp_path / "results" / "tables" / "s_scores.csv")
    best = table[table["measure"] == "best_f1"].pivot(index="dataset", columns="ranker", values="mean")
    (group,) = groups_of(placed)
    pd.testing.assert_frame_equal(
        best, score_table(complete_rows(made, group.expected), "best_f1"), check_like=True, check_names=False
    )


# --- the list of the paper's figures ---


def test_every_figure_of_the_list_is_made_by_its_command(tmp_path, asked, undrawn):

    text = (PROJECT_ROOT / "docs" / "paper-figures.md").read_text(encoding="utf-8")
    lines = re.findall(
        r"^\| figures? ([\d, ab]+) \| .*? \| `python report.py study=(\w+)` \| (.*?) \|", text, flags=re.M
    )
    numbers = [int(n) for place, *_ in lines for n in re.findall(r"\d+", place)]
    assert sorted(set(numbers)) == sorted({*range(2, 28)} - {3, 4}), "figures 1, 3 and 4 hold no data"
    made = {}
    for name in ("mcc", "mlc"):
        rows, configs = study(["madelon", "dlbcl", "genes", "delicious"], SOME, name=name, **FEW,
                              task="multiclass" if name == "mcc" else "multilabel")  # fmt: skip
        made[name] = report.show(rows, configs, {"results": str(tmp_path)}, io.StringIO(), whole=True)
    stems = {name: {file.stem for file in files} for name, files in made.items()}
    for kind, (_, figures) in MEASURED.items():
        stems[kind] = set(figures)
    stems["convergence"] = {"convergence_convergence"}  # as in the test of iterations
    for name in sorted({name for _, name, _ in lines} - {"mlc"}):  # mlc is composed in other tests
        assert compose_runs([f"study={name}"]).configs
    for place, name, files in lines:
        for stem in re.findall(r"`(\w+)`", files):
            assert stem in stems[name], (place, stem)
    tables = re.findall(
        r"\| `python report.py study=(mcc|mlc)` \| (.*?) \|$", text.partition("what it holds")[2], flags=re.M
    )
    assert len(tables) >= 5
    for name, files in tables:
        for stem in re.findall(r"`(\w+)(?:\.csv)?`", files):
            assert stem in stems[name], stem
