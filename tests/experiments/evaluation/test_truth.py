"""Data of which the informative columns are known, and which rankers find them."""

import itertools

import numpy as np
import pages
import pandas as pd
import pytest
from listening import Listening
from sklearn.feature_selection import mutual_info_classif

from experiments import datasets, report
from experiments.analysis import measurements
from experiments.config.compose import compose_runs
from experiments.datasets import synthetic
from experiments.errors import ConfigError, DatasetError
from experiments.evaluation.cell import cells_of
from experiments.evaluation.measurements import Subject
from experiments.evaluation.measurements.truth import recovery
from experiments.execution.runner import run_study
from experiments.figures import recovery as drawing
from experiments.rankers import rank
from experiments.report import page
from reliefe import SURF, MultiSURF, MultiSURFStar, ReliefF, SURFStar


def places(raw):
    return [list(raw.feature_names).index(name) for name in raw.informative]


# --- generators


@pytest.mark.parametrize(
    ("heritability", "rate", "prevalence"),
    [(0.4, 0.4, 0.5), (0.4, 0.5, 0.5), (0.25, 0.25, 0.5), (0.1, 0.5, 0.3), (0.2, 0.4, 0.3), (0.1, 0.25, 0.3)],
)
@pytest.mark.parametrize("order", [2, 3])
def test_tables_have_the_heritability_and_no_smaller_effect(order, heritability, rate, prevalence):
    rng = np.random.default_rng(3)
    table = synthetic.penetrance_table(order, heritability, rate, prevalence, rng)
    shares = synthetic.genotype_shares(order, rate)
    assert table.shape == shares.shape == (3,) * order
    assert shares.sum() == pytest.approx(1) and table.min() >= 0 and table.max() <= 1
    assert (shares * table).sum() == pytest.approx(prevalence, abs=1e-12)
    variance = (shares * (table - prevalence) ** 2).sum()
    assert variance / (prevalence * (1 - prevalence)) == pytest.approx(heritability, rel=1e-9)
    for n_known in range(1, order):
        for known in itertools.combinations(range(order), n_known):
            others = tuple(axis for axis in range(order) if axis not in known)
            given = (shares * table).sum(axis=others) / shares.sum(axis=others)
            np.testing.assert_allclose(given, prevalence, atol=1e-12)


@pytest.mark.parametrize("order", [2, 3])
def test_genotypes_follow_the_table_and_say_nothing_alone(order):
    raw = synthetic.epistasis(n_rows=40_000, n_noise=3, order=order, heritability=0.3, seed=5)
    assert sorted(raw.informative) == [f"informative_{number}" for number in range(1, order + 1)]
    assert set(np.unique(raw.X)) == {0, 1, 2}
    assert np.bincount(raw.labels).tolist() == [20_000, 20_000]
    telling = raw.X[:, places(raw)].astype(int)
    together = np.array(
        [raw.labels[(telling == cell).all(axis=1)].mean() for cell in np.unique(telling, axis=0)]
    )
    assert np.ptp(together) > 0.4
    for column in raw.X.T:
        assert max(abs(raw.labels[column == value].mean() - 0.5) for value in (0, 1, 2)) < 0.04
    expected = synthetic.genotype_shares(1, 0.4)
    for column in telling.T:
        np.testing.assert_allclose(np.bincount(column) / 40_000, expected, atol=0.02)


def test_parity_and_its_flipped_rows():
    raw = synthetic.parity(n_rows=2000, n_noise=5, order=3, flipped=0.2, seed=1)
    odd = raw.X[:, places(raw)].sum(axis=1) % 2
    assert raw.X.shape == (2000, 8) and (odd != raw.labels).mean() == pytest.approx(0.2, abs=0.03)
    plain = synthetic.parity(n_rows=2000, n_noise=5, order=3, seed=1)
    np.testing.assert_array_equal(plain.X[:, places(plain)].sum(axis=1) % 2, plain.labels)


def test_clusters_are_made_as_madelon_was():
    raw = synthetic.clusters(n_rows=640, n_noise=40, seed=2)
    assert raw.X.shape == (640, 60) and len(raw.informative) == 20
    telling = raw.X[:, places(raw)]
    assert np.linalg.matrix_rank(telling - telling.mean(axis=0)) == 5
    noise = np.delete(raw.X, places(raw), axis=1)
    assert np.linalg.matrix_rank(noise) == 40
    assert abs(np.corrcoef(noise.T, raw.labels)[-1, :-1]).max() < 0.2


@pytest.mark.parametrize("make", [synthetic.epistasis, synthetic.parity, synthetic.clusters])
def test_the_seed_decides_and_places_differ(make):
    first, again, other = make(seed=0), make(seed=0), make(seed=1)
    np.testing.assert_array_equal(first.X, again.X)
    assert first.feature_names == again.feature_names
    assert first.X.shape == other.X.shape and (first.X != other.X).any()
    assert places(first) != places(other)
    assert len(set(first.feature_names)) == first.X.shape[1]


@pytest.mark.parametrize(
    ("make", "settings", "says"),
    [
        (synthetic.epistasis, {"heritability": 0.0}, "heritability=0.0: expected above 0"),
        (synthetic.epistasis, {"order": 1}, "order=1: expected from 2 to 6"),
        (synthetic.epistasis, {"minor_allele_frequency": 0.7}, "minor_allele_frequency=0.7"),
        (synthetic.epistasis, {"prevalence": 1.0}, "prevalence=1.0"),
        (synthetic.epistasis, {"n_rows": 3}, "n_rows=3"),
        (synthetic.epistasis, {"n_noise": -1}, "n_noise=-1"),
        (
            synthetic.epistasis,
            {"heritability": 0.9, "minor_allele_frequency": 0.05},
            "lower the heritability",
        ),
        (synthetic.parity, {"flipped": 0.6}, "flipped=0.6"),
        (synthetic.parity, {"order": 1}, "order=1"),
        (synthetic.clusters, {"n_informative": 1}, "n_informative=1"),
        (synthetic.clusters, {"n_rows": 63}, "n_rows=63: expected at least 64"),
    ],
)
def test_what_cannot_be_made_is_named(make, settings, says):
    with pytest.raises(ConfigError, match=says):
        make(**settings)


# --- what is known reaches the measure


def test_data_sets_know_their_informative_columns(local_data):
    for name in ("epistasis_2way", "epistasis_3way", "xor", "clusters", "gametes_2way", "gametes_3class"):
        (config,) = compose_runs([f"dataset={name}"]).configs
        data = datasets.load(config["dataset"], local_data)
        known = [data.feature_names[column] for column in data.informative]
        assert known and known == [
            each for each in data.feature_names if each[:2] in ("in", "P1", "P2") or "P" in each[:3]
        ]
    (config,) = compose_runs(["dataset=wine"]).configs
    assert datasets.load(config["dataset"], local_data).informative == ()
    config["dataset"]["informative"] = ["alcohol", "colour"]
    with pytest.raises(DatasetError, match="informative feature 'colour'"):
        datasets.load(config["dataset"], local_data)


def test_keys_of_cells_know_them_only_where_they_matter():
    (ranking,) = compose_runs(["dataset=wine", "ranker=relieff", "protocol=quick"]).configs
    (measure,) = compose_runs(["dataset=wine", "ranker=relieff", "protocol=truth"]).configs

    def key(config, *informative):
        return cells_of(config, checksum="0" * 64, task="multiclass", informative=informative)[0].key

    assert key(ranking) == key(ranking, 3, 4)
    assert len({key(measure), key(measure, 3), key(measure, 4)}) == 3


def test_ranks_of_the_informative_columns(rng):
    raw = synthetic.parity(n_rows=60, n_noise=4, seed=3)
    fit = {"_target_": "cheap.level", "_partial_": True}
    subject = Subject(raw.X, raw.labels, 0, fit, lambda: rank(fit, raw.X, raw.labels, 0), (1, 4))
    assert recovery(subject) == {"n_features": 6, "ranks": [2, 5]}  # all alike: in the order of the columns
    with pytest.raises(DatasetError, match="which of its features decide"):
        recovery(Subject(raw.X, raw.labels, 0, fit, subject.fit))


def made(dataset, ranker, ranks, p):
    return {
        "kind": "recovery", "dataset": dataset, "protocol": "truth", "ranker": ranker, "repeat": 0, "status": "ok",
        "measurement": f'{{"n_features": {p}, "ranks": {ranks}}}', "phase_seconds": None,
    }  # fmt: skip


FRAME = pd.DataFrame(
    [
        made("xor[source.n_noise=20]", "a", [1, 2], 22),
        made("xor[source.n_noise=20,source.seed=1]", "a", [1, 9], 22),
        made("xor[source.flipped=0.1,source.n_noise=20]", "a", [2, 3], 22),
        made("xor", "a", [1, 60], 102),
        made("xor[source.n_noise=20]", "b", [3, 4], 22),
        made("gametes_2way", "b", [1, 2], 20),
        {**made("xor", "b", [1, 2], 102), "status": "failed"},
    ]
)


def test_shares_among_the_best():
    table = measurements.points(FRAME, "recovery")
    first = table[(table["dataset"] == "xor[source.n_noise=20,source.seed=1]")]
    assert first["top"].tolist() == [1, 2, 5, 10, 20]
    assert first["found"].tolist() == [1, 1, 1, 2, 2]
    assert first["share"].tolist() == [1.0, 0.5, 0.5, 1.0, 1.0]
    assert set(table["n_informative"]) == {2} and 102 in set(table["n_features"])


def test_averages_are_over_seeds_alone():
    found = measurements.recovered(FRAME)
    assert list(found.itertuples(index=False, name=None)) == [
        ("xor", "a", 20, 0.75, 2),
        ("xor", "b", 20, 0.0, 1),
        ("xor", "a", 100, 0.5, 1),
        ("xor[flipped=0.1]", "a", 20, 0.5, 1),
        ("gametes_2way", "b", 18, 1.0, 1),
    ]
    lines = measurements.summary(FRAME)
    assert lines["dataset"].tolist() == ["xor", "xor", "xor[flipped=0.1]", "gametes_2way"]
    assert lines["result"][0].endswith("0.75 (20), 0.50 (100)")


def test_the_figure_holds_the_averages():
    shares = measurements.recovered(FRAME)
    figure = drawing.figure(shares, labels={"a": "Ranker A"}, note="One is missing.")
    assert [axes.get_title() for axes in figure.axes] == ["xor", "xor\nflipped=0.1", "gametes 2way"]
    lines = {line.get_label(): line for line in figure.axes[0].lines}
    assert list(lines) == ["Ranker A", "b"]
    assert lines["Ranker A"].get_xdata().tolist() == [20, 100]
    assert lines["Ranker A"].get_ydata().tolist() == [0.75, 0.5]
    assert figure.axes[0].get_xscale() == "log" and figure.axes[0].get_ylim() == (0, 1)
    assert [text.get_text() for text in figure.legends[0].get_texts()] == ["Ranker A", "b"]
    assert "One is missing." in figure.texts[0].get_text()
    assert lines["Ranker A"].get_color() == figure.axes[1].lines[0].get_color()


# --- the study


def test_the_study_covers_what_it_says():
    configs = compose_runs(["study=truth"]).configs
    assert {each["protocol"]["name"] for each in configs} == {"truth"}
    families = {}
    for each in configs:
        source = each["dataset"]["source"]
        family = families.setdefault(each["dataset"]["name"].partition("[")[0], [])
        family.append((source.get("heritability"), source.get("n_noise")))
    assert set(families) >= {"epistasis_2way", "epistasis_3way", "xor", "clusters", "gametes_2way"}
    for name in ("epistasis_2way", "epistasis_3way"):
        assert {pair[0] for pair in families[name]} == {0.1, 0.2, 0.3, 0.4}
        assert {pair[1] for pair in families[name]} == {20, 100, 1000, 10000}
    assert {"relieff", "surf", "multisurf", "multisurf_star", "mutual_information"} <= {
        each["ranker_key"] for each in configs
    }
    names = [(each["dataset_key"], each["ranker_key"]) for each in configs]
    assert len(names) == len(set(names))


def test_a_small_part_of_it_from_data_to_figure(tmp_path, capsys):
    argv = ["study=truth", "dataset=xor", "dataset.n_noise=20", "dataset.seed=0,1"]
    argv += ["ranker=relieff,mutual_information", f"paths.results={tmp_path}"]
    configs = compose_runs(argv).configs
    result = run_study(configs, n_workers=1, progress=Listening())
    assert result.exit_code == 0 and set(result.frame["kind"]) == {"recovery"}
    written = report.show(result.frame, configs, configs[0]["paths"])
    changed = "dataset=xor,dataset.n_noise=20,dataset.seed=0+1,ranker=mutual_information+relieff"
    stem = f"truth[{changed}]_truth_recovery"
    assert sorted(path.name for path in written) == [f"{stem}.csv", f"{stem}.png", f"{stem}.svg"]
    table = pd.read_csv(tmp_path / "tables" / f"{stem}.csv")
    best = table[(table["top"] == 2) & (table["ranker"] == "relieff")]
    assert (best["share"] == 1.0).all() and len(best) == 4
    assert "1.00 (20)" in capsys.readouterr().out
    path = page.write([], study="truth", frame=result.frame, configs=configs, path=tmp_path / "p.html")
    read = pages.Read(path)
    assert "8 results on 4 of 4 data sets (protocol truth)" in read.text
    assert len(read.lines("measurements")) == 4


# --- what rankers find


@pytest.mark.parametrize("kind", [ReliefF, SURF, SURFStar, MultiSURF, MultiSURFStar])
@pytest.mark.parametrize("seed", [0, 1, 2])
def test_pairs_that_mutual_information_misses_are_found(kind, seed):
    """Exclusive or, and genotypes without main effects, among 30 columns of noise."""
    for raw in (
        synthetic.parity(n_rows=400, n_noise=30, seed=seed),
        synthetic.epistasis(n_rows=800, n_noise=30, heritability=0.4, seed=seed),
    ):
        ranks = kind().fit(raw.X, raw.labels).ranking_[places(raw)]
        assert sorted(ranks) == [1, 2]
        information = mutual_info_classif(raw.X, raw.labels, discrete_features=True, random_state=0)
        order = np.argsort(-information, kind="stable")
        assert len(set(order[:2].tolist()) & set(places(raw))) < 2
        assert information[places(raw)].max() < 0.02


def test_three_columns_that_decide_together_are_found():
    raw = synthetic.parity(n_rows=600, n_noise=10, order=3, seed=4)
    assert sorted(MultiSURF().fit(raw.X, raw.labels).ranking_[places(raw)]) == [1, 2, 3]
