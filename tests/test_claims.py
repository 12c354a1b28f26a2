"""The paper's claims on rows whose answers are known."""

import re
from functools import cache

import numpy as np
import pandas as pd
import pytest
from made_up_rows import MCC_DATASETS, MLC_DATASETS, RANKERS, config, mlc_rankers, study

from experiments.analysis import claims, claims_mcc, claims_mlc, claims_side
from experiments.analysis.comparison import compare
from experiments.analysis.groups import groups_of
from experiments.analysis.pairs import PAPER_PAIRS, Posteriors
from experiments.config import compose_runs

CHEAP = {"n_repeats": 1, "n_splits": 3, "n_points": 20, "n_features": 300, "noise": 0.002}


def posterior(better=(), p=0.9):
    """Made-up answers for the paper's pairs: ``better`` wins with probability p, elsewhere all is equal."""
    lines = []
    for a, b in PAPER_PAIRS:
        three = (p, 1 - p, 0.0) if a in better else (0.0, 1 - p, p) if b in better else (0.0, 1.0, 0.0)
        lines.append({"ranker_a": a, "ranker_b": b, "p_a": three[0], "p_rope": three[1], "p_b": three[2]})
    return Posteriors(pd.DataFrame(lines))


def checked(made, configs, answers=None, absent=None):
    comparisons = [compare(made, group, posterior=answers) for group in groups_of(configs, absent)]
    return claims.check(comparisons, made).set_index("claim")


@cache
def asked_by(name):
    """Data sets × rankers of a study of the project."""
    return frozenset(
        (each["dataset_key"], each["ranker_key"]) for each in compose_runs([f"study={name}"]).configs
    )


def skilled(**changes):
    """The made-up rankers with other skills or seconds: name=(skill, seconds)."""
    return {
        name: (label, *changes.get(name, (skill, seconds)))
        for name, (label, skill, seconds) in RANKERS.items()
    }


@pytest.fixture(scope="module")
def whole():
    """All cells of the paper's multi-class study; ReliefE-absMean-adaptive is best, the SURF family slowest."""
    made, configs = study(name="mcc", **CHEAP)
    return made, configs, checked(made, configs, posterior({"reliefe_absmean_adaptive"}))


# --- all claims ---


def test_every_claim_says_where_it_stands_and_how_it_is_read():
    every = claims.all_claims()
    assert len(every) == len(claims_mcc.CLAIMS) + len(claims_mlc.CLAIMS) + len(claims_side.CLAIMS) >= 45
    assert len({(claim.about, claim.key) for claim in every}) == len(every)
    for claim in every:
        assert re.search(r"section|appendix", claim.place) and claim.statement and claim.reading
        assert claim.datasets
        assert claim.rankers or claim.about in ("sparsity", "latent_dimension", "adaptive_k", "phases")


def test_claims_are_about_cells_that_the_studies_have():
    for claim in claims.all_claims():
        asked = asked_by(claim.about)
        if claim.rankers:
            wanted = {(dataset, ranker) for dataset in claim.datasets for ranker in claim.rankers}
            assert wanted <= asked, claim.key
        assert set(claim.datasets) <= {dataset for dataset, _ in asked}, claim.key


@pytest.mark.parametrize(
    ("about", "datasets", "rankers"),
    [
        ("mcc", claims.MCC_DATASETS, claims.MCC_RANKERS),
        ("mlc", claims.MLC_DATASETS, claims.MLC_RANKERS),
    ],
)
def test_the_papers_lists_are_those_of_the_studies(about, datasets, rankers):
    assert asked_by(about) == {(dataset, ranker) for dataset in datasets for ranker in rankers}


def test_with_all_cells_every_claim_has_a_verdict(whole):
    _, _, found = whole
    assert len(found) == len(claims_mcc.CLAIMS)
    assert set(found["verdict"]) == {"holds", "does not hold"}
    assert (found["missing"] == "").all() and (found["evidence"] != "").all()
    assert found["evidence"].str.contains(re.escape("(here 3 folds × 1, in the paper 10 × 10)")).all()


def test_without_cells_nothing_is_decided_and_nothing_is_said():
    made, configs = study(name="mcc", states={("*", "*"): "missing"})
    found = checked(made, configs)
    assert set(found["verdict"]) == {"cannot be decided"}
    assert (found["evidence"] == "").all()
    assert found.loc["lowest rank by max F1", "missing"].startswith("chess, biodeg_p2_discrete, ")


def test_failures_leave_a_claim_open_and_limits_do_not():
    key = "genes against mutual information"
    for state, missing in (
        ("failed", "genes × Mutual information"),
        ("timeout", "needed: rF1 of mutual information"),
    ):
        made, configs = study(["genes"], name="mcc", states={("genes", "mutual_information"): state}, **CHEAP)
        line = checked(made, configs).loc[key]
        assert (line["verdict"], line["missing"]) == ("cannot be decided", missing)
    made, configs = study(["genes"], name="mcc", states={("genes", "random_forest"): "failed"}, **CHEAP)
    assert checked(made, configs).loc[key, "verdict"] == "holds"


def test_a_part_of_the_cells_gives_evidence_but_no_verdict():
    made, configs = study(MCC_DATASETS[:4], name="mcc", **CHEAP)
    line = checked(made, configs).loc["SURF slowest"]
    assert line["verdict"] == "cannot be decided"
    assert line["evidence"].startswith("so far it holds: fastest of the SURF family ")
    assert line["missing"] == f"{', '.join(MCC_DATASETS[4:])} (every ranker)"


def test_some_of_the_rankers_are_no_evidence_for_a_place_among_all():
    made, configs = study(["chess", "madelon"], dict(list(RANKERS.items())[:8]), name="mcc", **CHEAP)
    found = checked(made, configs)
    assert set(found["verdict"]) == {"cannot be decided"}
    assert found.loc["lowest rank by max F1", "evidence"] == ""
    assert found.loc["no consistent gain by embedding", "evidence"].startswith("so far")  # asks for no others


def test_other_data_sets_are_no_evidence():
    made, configs = study(["wine", "digits"], name="mcc", **CHEAP)
    found = checked(made, configs)
    assert (found["evidence"] == "").all() and set(found["verdict"]) == {"cannot be decided"}


def test_other_data_sets_and_rankers_beside_the_papers_change_nothing(whole):
    made, configs, found = whole
    extra_rankers = {"best": ("Best", 0.9, 0.001)}
    more, more_configs = study(["wine"], {**RANKERS, **extra_rankers}, name="mcc", seed=3, **CHEAP)
    again, again_configs = study(MCC_DATASETS[:1], extra_rankers, name="mcc", seed=4, **CHEAP)
    mixed = checked(
        pd.concat([made, more, again], ignore_index=True),
        [*configs, *more_configs, *again_configs],
        posterior(),
    )
    without = ["lowest rank by max F1", "top five of AUrF1 alike", "adaptive k alike", "SURF slowest"]
    for key in without:
        assert mixed.loc[key].equals(found.loc[key]), key
    # Posteriors are of all data sets of the study, so they say nothing of the paper's alone.
    assert mixed.loc["80 % against MultiSURF", "verdict"] == "cannot be decided"


def test_a_study_of_something_else_is_not_asked():
    made, configs = study(
        MLC_DATASETS[:1], {"relieff_f1": ("ReliefF (F1)", 0, 1)}, task="multilabel", **CHEAP
    )
    assert set(checked(made, configs)["about"]) == {"mlc"}
    assert not len(claims.check([], made, {}))


# --- single claims, both ways ---


def test_lowest_rank(whole):
    _, _, found = whole
    line = found.loc["lowest rank by max F1"]
    assert line["verdict"] == "holds" and "ReliefE-absMean-adaptive 1.0" in line["evidence"]
    made, configs = study(rankers=skilled(random_forest=(0.5, 1)), name="mcc", **CHEAP)
    line = checked(made, configs).loc["lowest rank by max F1"]
    assert line["verdict"] == "does not hold" and "Random forest 1.00" in line["evidence"]


def test_speed(whole):
    _, _, found = whole
    keys = ["SURF slowest", "an order of magnitude faster", "up to two orders of magnitude faster"]
    keys.append("faster than all Relief rankers")
    assert found.loc[keys, "verdict"].tolist() == ["holds"] * 4
    slow = {name: (0.01, 1000.0) for name in claims.RELIEFE}
    made, configs = study(rankers=skilled(**slow), name="mcc", **CHEAP)
    again = checked(made, configs)
    assert again.loc[keys, "verdict"].tolist() == ["does not hold"] * 4
    assert "ReliefE faster in 0 of 352" in again.loc["faster than all Relief rankers", "evidence"]


def test_the_ratio_of_seconds_is_right():
    rankers = {
        name: (label, skill, 1.0 if name.startswith("reliefe") else 150.0 if name == "skrebate_surf" else 9.0)
        for name, (label, skill, _) in RANKERS.items()
    }
    made, configs = study(rankers=rankers, name="mcc", **CHEAP)
    made["fit_seconds"] = made["ranker"].map({name: seconds for name, (_, _, seconds) in rankers.items()})
    found = checked(made, configs)
    middle = (150.0 * 9.0 * 9.0) ** (1 / 3)
    assert (
        f"geometric mean of the ratios {middle:.3g}, from 9 to 150"
        in found.loc["an order of magnitude faster", "evidence"]
    )
    assert found.loc["up to two orders of magnitude faster", "verdict"] == "holds"


@pytest.mark.parametrize(
    ("p", "verdicts"),
    [
        (0.8, ["holds", "holds", "holds", "holds"]),
        (0.97, ["does not hold", "does not hold", "holds", "holds"]),
        (0.2, ["does not hold", "holds", "does not hold", "holds"]),
    ],
)
def test_posteriors(whole, p, verdicts):
    made, configs, _ = whole
    found = checked(made, configs, posterior({"reliefe_absmean_adaptive"}, p))
    keys = ["80 % against MultiSURF", "below 95 % against MultiSURF", "30 % against MultiSURFstar"]
    assert found.loc[[*keys, "on par or better"], "verdict"].tolist() == verdicts
    few = found.loc["few clear winners", "verdict"]
    assert few == ("holds" if p < 0.5 else "holds" if 5 > len(PAPER_PAIRS) / 2 else few)


def test_few_clear_winners_counts_the_pairs(whole):
    made, configs, _ = whole
    found = checked(made, configs, posterior({"skrebate_multisurf_star", "reliefe_absmean_adaptive"}))
    assert found.loc["few clear winners", "verdict"] == "does not hold"
    assert "in 0 of 10 pairs" in found.loc["few clear winners", "evidence"]


def test_without_the_test_its_claims_are_open(whole):
    made, configs, _ = whole
    line = checked(made, configs).loc["80 % against MultiSURF"]
    assert (line["verdict"], line["missing"]) == (
        "cannot be decided",
        "needed: the hierarchical Bayesian test",
    )


def test_surf_on_genes():
    key = "SURF does not finish genes"
    made, configs = study(
        ["genes"], name="mcc", states={("genes", ranker): "timeout" for ranker in claims.SURF}, **CHEAP
    )
    assert checked(made, configs).loc[key, "verdict"] == "holds"
    made, configs = study(["genes"], name="mcc", states={("genes", "skrebate_surf"): "timeout"}, **CHEAP)
    line = checked(made, configs).loc[key]
    assert line["verdict"] == "does not hold" and "1 of 3 SURF variants were stopped" in line["evidence"]


def test_embedding_without_consistent_gain():
    rankers = skilled(**{name: (0.4, 1.0) for name in claims.RELIEFE})
    made, configs = study(rankers=rankers, name="mcc", **CHEAP)
    line = checked(made, configs).loc["no consistent gain by embedding"]
    assert line["verdict"] == "does not hold" and "ReliefE on 11 of 11 data sets" in line["evidence"]


# --- ours in place of skrebate's ---


def standing_in(**changes):
    """The paper's rankers, with ours in the place of skrebate's; name=(skill, seconds) as for ``skilled``."""
    ours = {own: stand_in for own, stand_in in claims.STAND_INS.items()}
    return {ours.get(name, name): each for name, each in skilled(**changes).items()}


def test_stand_ins_count_where_skrebates_rankers_were_not_run():
    # The seed is the same, so the numbers are those of skrebate's rankers.
    datasets = ["chess", "madelon"]
    own, ours = (
        checked(*study(datasets, rankers, name="mcc", **CHEAP)) for rankers in (skilled(), standing_in())
    )
    for key in ("lowest rank by max F1", "own ReliefF over SURF", "embedded rankers alike by FUJI"):
        assert (
            ours.loc[key, "evidence"]
            == own.loc[key, "evidence"] + " (ours as skrebate's stand for skrebate's)"
        )
        assert ours.loc[key, "missing"] == own.loc[key, "missing"] != ""
    # Times are nobody's but one's own.
    assert own.loc["SURF slowest", "evidence"].startswith("so far it holds: fastest of the SURF family ")
    assert ours.loc["SURF slowest", "evidence"] == ""
    for key in ("SURF slowest", "an order of magnitude faster", "faster than all Relief rankers"):
        assert "chess, madelon × skrebate" in ours.loc[key, "missing"], key
        assert "stand for" not in ours.loc[key, "evidence"]


@pytest.mark.parametrize("rival", ["surf_as_skrebate", "random_forest", "mutual_information"])
def test_on_madelon_all_others_are_the_others(rival):
    best = {name: (-0.08, 1.0) for name in RANKERS if name not in claims.RELIEFE}
    key = "madelon at 250 features"
    line = checked(*study(["madelon"], standing_in(**best), name="mcc", **CHEAP)).loc[key]
    assert line["verdict"] == "holds" and "of the others 0 above 1" in line["evidence"]
    rivals = standing_in(**best)
    rivals[rival] = (rivals[rival][0], 0.2, 1.0)
    line = checked(*study(["madelon"], rivals, name="mcc", **CHEAP)).loc[key]
    assert line["verdict"] == "does not hold"
    assert f"({rivals[rival][0]}); of the others 1 above 1" in line["evidence"]


def test_stand_ins_do_not_finish_for_skrebates_rankers():
    rankers = {**skilled(), **standing_in()}
    states = {("genes", ranker): "timeout" for ranker in claims.SURF}
    found = checked(*study(["genes"], rankers, name="mcc", states=states, **CHEAP))
    assert found.loc["SURF does not finish genes", "verdict"] == "holds"
    # Stopped, as the paper's own were: nothing takes their place.
    assert not found["evidence"].str.contains("stand for").any()


def test_posteriors_of_stand_ins_are_posteriors():
    lines = [
        {"ranker_a": "reliefe_absmean_adaptive", "ranker_b": "multisurf_as_skrebate", "p_a": 0.8, "p_rope": 0.2,
         "p_b": 0.0, "n_datasets": 2},
        {"ranker_a": "skrebate_multisurf", "ranker_b": "reliefe_absmean_adaptive", "p_a": np.nan, "p_rope": np.nan,
         "p_b": np.nan, "n_datasets": 1},
    ]  # fmt: skip
    made, configs = study(["chess", "madelon"], standing_in(), name="mcc", **CHEAP)
    found = checked(made, configs, Posteriors(pd.DataFrame(lines)))
    assert "P(better, equal, worse) = 0.800, 0.200, 0.000" in found.loc["80 % against MultiSURF", "evidence"]
    assert found.loc["few clear winners", "evidence"].startswith(
        "so far it does not hold: no ranker better with 50 % in 0 of 1"
    )


def test_times_that_were_not_kept_are_missing():
    made, configs = study(["chess"], name="mcc", **CHEAP)
    made.loc[made["ranker"] == "skrebate_relieff", "fit_seconds"] = np.nan
    found = checked(made, configs)
    key = "faster than all Relief rankers"
    assert found.loc[key, "missing"].endswith("; times of chess × ReliefF (skrebate)")
    assert "times" not in found.loc["lowest rank by max F1", "missing"]


def test_what_most_claims_lack_is_said_once():
    whole = "har, genes (every ranker); chess × A"
    shared, own = claims.shared_missing(
        [whole, "", whole, f"{whole}; times of chess × B", "genes (every ranker)"]
    )
    assert shared == whole
    assert own == ["", "", "", "also times of chess × B", "genes (every ranker)"]
    # What only some lack stays with them.
    some = ["har (every ranker)"] * 3 + ["har (every ranker); chess × A"] * 2
    assert claims.shared_missing(some) == ("har (every ranker)", [""] * 3 + ["also chess × A"] * 2)
    assert claims.shared_missing(["a", "b"]) == ("", ["a", "b"])
    assert claims.shared_missing(["", ""]) == ("", ["", ""])


# --- labels ---


@pytest.fixture(scope="module")
def labels():
    """Skills by ranker and distance: ReliefF before ReliefE, cosine before all other distances."""
    order = ("cosine", "hamming", "f1", "accuracy", "subset", "hyperbolic")
    rankers = {}
    for name, (label, _, seconds) in mlc_rankers().items():
        own, distance = name.rpartition("_")[::2]
        skill = (0.3 if own.startswith("relieff") else 0.05) - 0.03 * order.index(distance)
        skill += 0.01 * ("adaptive" in own) + 0.005 * ("absmean" in own)
        rankers[name] = (label, skill, 0.1 if own.startswith("reliefe_") or own == "reliefe" else 5.0)
        assert seconds
    return study(MLC_DATASETS, rankers, task="multilabel", name="mlc", **CHEAP)


def test_claims_of_labels(labels):
    found = checked(*labels)
    assert len(found) == len(claims_mlc.CLAIMS)
    holding = [
        "more than an order of magnitude faster",
        "best rankers do not embed the input",
        "cosine first",
        "cosine among the top three",
        "absMean among the top five",
        "subset and hyperbolic worst",
        "cosine first by mean of the top 10",
        "delicious and cosine",
    ]
    assert found.loc[holding, "verdict"].tolist() == ["holds"] * len(holding), found.loc[holding]
    line = found.loc["best ReliefE with embedded targets is 13th"]
    assert line["verdict"] == "does not hold" and "place 25 of 48" in line["evidence"]
    assert found.loc["delicious up to 250 features", "verdict"] == "does not hold"


def test_one_missing_ranker_of_labels_is_named(labels):
    made, configs = labels
    made = made[~((made["dataset"] == "imdb") & (made["ranker"] == "relieff_cosine"))]
    line = checked(made, configs).loc["cosine first"]
    assert (line["verdict"], line["missing"]) == ("cannot be decided", "imdb × ReliefF (cosine)")
    assert line["evidence"].startswith("so far it ")


# --- iterations ---


def convergence_of(curves, dataset="dlbcl"):
    """Rows with a wanted AUrF1 for each family and number of iterations (None: every row)."""
    frames, configs = [], []
    for family, of_number in curves.items():
        for number, area in of_number.items():
            name = family if number is None else f"{family}[n_iterations={number}]"
            made, _ = study(
                [dataset], {name: (name, 0.0, 1.0)}, protocol="convergence", n_repeats=1, n_splits=3
            )
            frames.append(made.assign(aurf1_micro=area))
            each = config(
                dataset, name, name, study="convergence", n_splits=3, n_repeats=1, name="convergence"
            )
            each["ranker"]["n_iterations"] = number
            configs.append(each)
    return pd.concat(frames, ignore_index=True), configs


NUMBERS = (1, 2, 4, 8, 16, 32, None)


@pytest.mark.parametrize(
    ("own", "four", "stays"),
    [
        ((0.5, 0.6, 0.9, 0.9, 0.9, 0.9, 0.9), "holds", "holds"),
        ((0.5, 0.6, 0.88, 0.9, 0.9, 0.9, 0.9), "does not hold", "does not hold"),
        ((0.5, 0.6, 0.9, 0.8, 0.9, 0.9, 0.9), "holds", "does not hold"),
    ],
)
@pytest.mark.parametrize(("at_32", "drops"), [(0.7, "holds"), (0.9, "does not hold")])
def test_claims_of_convergence(own, four, stays, at_32, drops):
    plain = dict(zip(NUMBERS, (0.8, 0.8, 0.8, 0.8, 0.8, at_32, 0.8), strict=True))
    curves = {"reliefe_absmean_adaptive": dict(zip(NUMBERS, own, strict=True)), "relieff": plain}
    found = checked(*convergence_of(curves))
    keys = ["four iterations on DLBCL", "no later change on DLBCL", "ReliefF drops at 32 iterations on DLBCL"]
    assert found.loc[keys, "verdict"].tolist() == [four, stays, drops]
    assert "(here" not in found.loc[keys[0], "evidence"]
    assert found.loc["chess stays the same", "verdict"] == "cannot be decided"


@pytest.mark.parametrize(("better", "verdict"), [(0.9, "holds"), (0.7, "does not hold")])
def test_relieff_on_tumors(better, verdict):
    own = dict.fromkeys(NUMBERS, 0.8)
    plain = dict.fromkeys(NUMBERS, 0.9) | {8: better}
    found = checked(*convergence_of({"reliefe_absmean_adaptive": own, "relieff": plain}, "tumors_c"))
    assert found.loc["ReliefF better on tumors C", "verdict"] == verdict


def test_fewer_iterations_than_the_claim_needs_are_named():
    curves = {name: dict.fromkeys((1, 4, None), 0.9) for name in ("reliefe_absmean_adaptive", "relieff")}
    line = checked(*convergence_of(curves)).loc["four iterations on DLBCL"]
    assert line["verdict"] == "cannot be decided"
    assert line["missing"].startswith("dlbcl × ")
    assert "reliefe_absmean_adaptive[n_iterations=32]" in line["missing"]
    assert line["evidence"].startswith("so far it holds: AUrF1 0.9000 after 4 iterations")


# --- measurements ---


def sparsity(share_of):
    columns = ["dataset", "protocol", "ranker", "repeat", "epsilon", "share_before", "share", "estimated"]
    lines = []
    for dataset, (with_one, estimated) in share_of.items():
        lines += [
            [dataset, "sparsity", "reliefe", 0, 1.0, 1.0, with_one, False],
            [dataset, "sparsity", "reliefe", 0, 0.4, 1.0, estimated, True],
        ]
    return pd.DataFrame(lines, columns=columns)


@pytest.mark.parametrize(
    ("with_one", "estimated", "verdicts"),
    [(1.0, 0.5, ["holds", "holds", "holds"]), (0.5, 1.0, ["does not hold"] * 3)],
)
def test_claims_of_sparsity(with_one, estimated, verdicts):
    measured = {"sparsity": sparsity(dict.fromkeys(MCC_DATASETS, (with_one, estimated)))}
    found = claims.check([], pd.DataFrame(), measured)
    assert found["verdict"].tolist() == verdicts
    measured = {"sparsity": sparsity({"chess": (with_one, estimated)})}
    assert set(claims.check([], pd.DataFrame(), measured)["verdict"]) == {"cannot be decided"}


@pytest.mark.parametrize(
    ("slope", "verdict"), [(33.4, "holds"), (33.6, "does not hold"), (np.nan, "does not hold")]
)
def test_the_dimension_of_genes(slope, verdict):
    columns = ["dataset", "protocol", "ranker", "repeat", "rows", "log_ratio", "minus_log_rest", "slope"]
    spread = pd.DataFrame([["genes", "p", "reliefe", 0, "raw", 0.1, 0.2, slope]], columns=columns)
    found = claims.check([], pd.DataFrame(), {"latent_dimension": spread})
    assert found["verdict"].tolist() == [verdict]


@pytest.mark.parametrize(("weights", "verdict"), [(6.0, "holds"), (4.0, "does not hold")])
def test_the_time_of_p53(weights, verdict):
    columns = ["dataset", "protocol", "ranker", "repeat", "phase", "seconds", "share"]
    lines = [
        ["p53", "p", "reliefe", 0, "weights", weights, np.nan],
        ["p53", "p", "reliefe", 0, "embed", 5.0, np.nan],
    ]
    found = claims.check([], pd.DataFrame(), {"phases": pd.DataFrame(lines, columns=columns)})
    assert found["verdict"].tolist() == [verdict]
    assert f"{weights / (weights + 5):.1%}" in found["evidence"][0]


@pytest.mark.parametrize(("high", "verdict"), [(20, "holds"), (15, "does not hold")])
def test_different_k(high, verdict):
    columns = ["dataset", "protocol", "ranker", "repeat", "class_number", "class_size", "neighbors", "count"]
    lines = [
        [dataset, "p", "reliefe_adaptive", 0, 0, 99, high if place else 10, 5]
        for place, dataset in enumerate(MCC_DATASETS)
    ]
    found = claims.check([], pd.DataFrame(), {"adaptive_k": pd.DataFrame(lines, columns=columns)})
    assert found["verdict"].tolist() == [verdict]
