"""The paper's claims about iterations, sparsification, latent dimension, adaptive k and phases."""

import json

import pandas as pd
import pytest
from made_up import frame, row
from made_up_claims import EXTENTS, rows
from made_up_rows import config

from experiments.analysis.claims import check as claims
from experiments.analysis.claims.cells import Pool, about_study, expand, pool_of

HOLDS, NOT, OPEN = "holds", "does not hold", "cannot be decided"
NUMBERS = (1, 2, 4, 8, 16, 32, None)
CONVERGING = OWN, PLAIN = "reliefe_absmean_adaptive", "relieff"
FOLDS = EXTENTS["convergence"]


def name(family, number):
    return family if number is None else f"{family}[n_iterations={number}]"


def converging(curves, dataset="dlbcl"):
    """A study with a wanted AUrF1 for each ranker and number of iterations (None: every sample)."""
    areas = {name(family, n): area for family, of in curves.items() for n, area in of.items()}
    made = rows({dataset: areas}, folds=FOLDS, protocol="convergence", n_train=40)
    asked = [config(dataset, each, each, name="convergence", n_splits=3, n_repeats=1) for each in areas]
    return made, asked


def checked(made):
    return claims.check(pool_of([made], EXTENTS)).set_index("claim")


def flat(value=0.8, **changes):
    return dict.fromkeys(NUMBERS, value) | {int(n[1:]): each for n, each in changes.items()}


@pytest.mark.parametrize(
    ("own", "four", "stays"),
    [
        ((0.5, 0.6, 0.9, 0.9, 0.9, 0.9, 0.9), HOLDS, HOLDS),
        ((0.5, 0.6, 0.88, 0.9, 0.9, 0.9, 0.9), NOT, NOT),
        ((0.5, 0.6, 0.9, 0.8, 0.9, 0.9, 0.9), HOLDS, NOT),
    ],
)
@pytest.mark.parametrize(("at_32", "drops"), [(0.7, HOLDS), (0.9, NOT)])
def test_iterations_on_dlbcl(own, four, stays, at_32, drops):
    curves = {OWN: dict(zip(NUMBERS, own, strict=True)), PLAIN: flat(n32=at_32)}
    found = checked(converging(curves))
    keys = ["four iterations on DLBCL", "no later change on DLBCL", "ReliefF drops at 32 iterations on DLBCL"]
    assert found.loc[keys, "verdict"].tolist() == [four, stays, drops]
    assert found.loc["chess stays the same", "verdict"] == OPEN
    assert set(found["about"]) == {"convergence"}, "nothing else is asked for"


@pytest.mark.parametrize(
    ("own_at_4", "said", "told"), [(0.7, HOLDS, "8 against 2"), (0.8, NOT, "1 against 2")]
)
def test_slower_convergence(own_at_4, said, told):
    found = checked(converging({OWN: flat(n4=own_at_4), PLAIN: flat(n1=0.7)})).loc[
        "slower convergence on DLBCL"
    ]
    assert found["verdict"] == said and found["evidence"] == f"iterations: {told}"


@pytest.mark.parametrize(("better", "said"), [(0.9, HOLDS), (0.7, NOT)])
def test_relieff_on_tumors(better, said):
    found = checked(converging({OWN: flat(), PLAIN: flat(0.9, n8=better)}, "tumors_c"))
    assert found.loc["ReliefF better on tumors C", "verdict"] == said


@pytest.mark.parametrize(("lowest", "said"), [(0.76, HOLDS), (0.74, NOT)])
def test_chess_stays_the_same(lowest, said):
    numbers = [2**power for power in range(12)]
    curves = {family: dict.fromkeys([*numbers, None], 0.8) for family in CONVERGING}
    curves[PLAIN] |= {64: lowest}
    assert checked(converging(curves, "chess")).loc["chess stays the same", "verdict"] == said


@pytest.mark.parametrize(("at_8", "said"), [(0.8, HOLDS), (0.7, OPEN)])
def test_the_root_of_the_samples_is_enough_somewhere(at_8, said):
    """40 training samples, so 8 is the first number above √40; one data set where it holds is enough."""
    found = checked(converging({OWN: flat(n1=0.1, n2=0.1, n4=0.1, n8=at_8)})).loc[
        "√samples iterations enough"
    ]
    assert found["verdict"] == said
    assert f"dlbcl (8) {at_8 / 0.8:.3f}" in found["evidence"]


def test_fewer_iterations_than_the_claim_needs_leave_it_open():
    curves = {family: dict.fromkeys((1, 4, None), 0.9) for family in CONVERGING}
    found = checked(converging(curves)).loc["four iterations on DLBCL"]
    assert found["verdict"] == OPEN
    assert found["missing"] == "dlbcl"


def test_as_many_folds_alone_are_no_study_of_iterations():
    made, asked = converging({OWN: {None: 0.8}, PLAIN: {None: 0.8}})
    assert about_study(asked) == {"mcc"}
    assert set(checked((made, asked))["verdict"]) == {OPEN}
    assert about_study(converging({OWN: flat()})[1]) == {"convergence"}


# --- measurements ---


def measured(kind, points):
    return claims.check(Pool(measured={kind: points})).set_index("claim")


def sparsity(share_of):
    columns = ["dataset", "protocol", "ranker", "repeat", "epsilon", "share_before", "share", "estimated"]
    lines = []
    for dataset, (with_one, estimated) in share_of.items():
        lines += [
            [dataset, "sparsity", "reliefe", 0, 1.0, 1.0, with_one, False],
            [dataset, "sparsity", "reliefe", 0, 0.4, 1.0, estimated, True],
        ]
    return pd.DataFrame(lines, columns=columns)


@pytest.mark.parametrize(("with_one", "estimated", "said"), [(1.0, 0.5, HOLDS), (0.5, 1.0, NOT)])
def test_sparsity(with_one, estimated, said):
    found = measured("sparsity", sparsity(dict.fromkeys(expand("mcc_datasets"), (with_one, estimated))))
    assert found["verdict"].tolist() == [said] * 3


@pytest.mark.parametrize(("slope", "said"), [(33.4, HOLDS), (33.6, NOT), (float("nan"), NOT)])
def test_the_dimension_of_genes(slope, said):
    columns = ["dataset", "protocol", "ranker", "repeat", "rows", "log_ratio", "minus_log_rest", "slope"]
    points = pd.DataFrame([["genes", "p", "reliefe", 0, "raw", 0.1, 0.2, slope]], columns=columns)
    assert measured("latent_dimension", points)["verdict"].tolist() == [said]


@pytest.mark.parametrize(("weights", "said"), [(6.0, HOLDS), (4.0, NOT)])
def test_the_time_of_weight_updates(weights, said):
    columns = ["dataset", "protocol", "ranker", "repeat", "phase", "seconds", "share"]
    lines = [
        [dataset, "p", "reliefe", 0, phase, seconds, float("nan")]
        for dataset in ("p53", *expand("mcc_datasets"))
        for phase, seconds in (("weights", weights), ("embed", 5.0))
    ]
    found = measured("phases", pd.DataFrame(lines, columns=columns))
    keys = ["most time for weight updates", "most time for weight updates on p53"]
    assert found.loc[keys, "verdict"].tolist() == [said, said]
    assert f"p53 {weights / (weights + 5):.3f}" in found.loc[keys[1], "evidence"]


@pytest.mark.parametrize(("high", "said"), [(20, HOLDS), (15, OPEN)])
def test_different_k_needs_two_data_sets(high, said):
    columns = ["dataset", "protocol", "ranker", "repeat", "class_number", "class_size", "neighbors", "count"]
    lines = [
        [dataset, "p", "reliefe_adaptive", 0, 0, 99, k, 5]
        for dataset, k in zip(expand("mcc_datasets")[:2], (10, high), strict=True)
    ]
    found = measured("adaptive_k", pd.DataFrame(lines, columns=columns))
    assert found["verdict"].tolist() == [said]
    one = measured("adaptive_k", pd.DataFrame(lines[:1], columns=columns))
    assert one["verdict"].tolist() == [OPEN]


def test_measurements_of_several_studies_are_one_pool():
    def study(dataset):
        found = {"class_sizes": [40], "neighbors": [[10 if dataset == "chess" else 30]], "counts": [[9]]}
        made = frame([row("reliefe_adaptive", dataset=dataset, protocol="adaptive_k") | {
            "kind": "adaptive_k", "measurement": json.dumps(found)}])  # fmt: skip
        protocol = {
            "measure": {"_target_": "experiments.evaluation.measurements.fits.adaptive_k"},
            "name": "adaptive_k",
        }
        asked = {"dataset_key": dataset, "dataset": {"task": "multiclass"}, "ranker_key": "reliefe_adaptive",
                 "protocol": protocol | {"n_splits": 1, "n_repeats": 1}}  # fmt: skip
        return made, [asked]

    (found,) = claims.check(pool_of([study("chess"), study("madelon")])).to_dict("records")
    assert found["verdict"] == HOLDS and "chess 10, madelon 30" in found["evidence"]
    made, asked = study("madelon")
    asked[0]["protocol"]["max_rows"] = 1000
    pool = pool_of([study("chess"), (made, asked)])
    assert set(pool.measured["adaptive_k"]["dataset"]) == {"chess"}, "a sample of the samples is of no use"
