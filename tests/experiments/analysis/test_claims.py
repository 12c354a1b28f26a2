"""Verdicts on the paper's claims: what is enough for one, and what is within the noise of the folds."""

import re
from functools import cache

import numpy as np
import pandas as pd
import pytest
from made_up_claims import EXTENTS, claim, everywhere, mcc, mlc, posteriors, rows, study

from experiments.analysis.claims import check as claims
from experiments.analysis.claims.cells import about_of, expand, pool_of
from experiments.analysis.pairs import PAPER_PAIRS
from experiments.cli import publish
from experiments.config.compose import compose_runs

HOLDS, NOT, OPEN = "holds", "does not hold", "cannot be decided"
FIRST, FASTER, TWO = (
    "lowest rank by max F1",
    "faster than all Relief rankers",
    "up to two orders of magnitude faster",
)


@cache
def composed(name):
    """What a study of the project asks for."""
    return compose_runs([f"study={name}"]).configs


@cache
def asked_by(name):
    """Its data sets × rankers."""
    return frozenset((each["dataset_key"], each["ranker_key"]) for each in composed(name))


def checked(*studies, about="mcc", answers=None, related=None):
    pool = pool_of(studies, EXTENTS)
    return claims.check(pool, {about: answers}, {about: related}).set_index("claim")


# --- all claims ---


def test_every_claim_says_where_it_stands_how_it_is_read_and_why():
    every = claims.all_claims()
    assert len({(each.about, each.claim) for each in every}) == len(every) >= 70
    for each in every:
        assert re.search(r"section|appendix", each.place), each.claim
        assert each.statement and each.reading and each.datasets, each.claim
        assert each.form in (claims.EXISTS, claims.FOR_ALL, claims.AVERAGE), each.claim
        assert each.rankers or each.about in ("sparsity", "latent_dimension", "adaptive_k", "phases"), (
            each.claim
        )
        assert each.general or len(each.datasets) < 5, each.claim


def test_claims_are_about_cells_that_the_studies_have():
    for each in claims.all_claims():
        asked = asked_by(each.about)
        assert set(each.datasets) <= {dataset for dataset, _ in asked}, each.claim
        if each.about != "convergence":
            assert {(one, other) for one in each.datasets for other in each.rankers} <= asked, each.claim
        else:
            known = {ranker for _, ranker in asked}
            assert set(each.rankers) <= known, each.claim


@pytest.mark.parametrize(
    ("about", "datasets", "rankers"),
    [
        ("mcc", expand("mcc_datasets"), expand("mcc_rankers")),
        ("mlc", expand("mlc_datasets"), expand("mlc_rankers")),
    ],
)
def test_the_papers_lists_are_those_of_the_studies(about, datasets, rankers):
    assert asked_by(about) == {(dataset, ranker) for dataset in datasets for ranker in rankers}


def test_with_all_cells_every_claim_about_rankings_has_a_verdict():
    answers = posteriors(
        dict.fromkeys(
            [*PAPER_PAIRS, *((surf, "mutual_information") for surf in expand("surf"))], (0.3, 0.5, 0.2)
        )
    )
    table = everywhere(mcc(), expand("mcc_datasets"))
    found = checked(study(table, seconds=mcc()), answers=answers)
    assert set(found["about"]) == {"mcc"} and set(found["verdict"]) == {HOLDS, NOT}
    assert (found["missing"] == "").all() and (found["evidence"] != "").all()
    assert (found["verdict"] == found["at_hand"]).all()
    found = checked(
        study(everywhere(mlc(), expand("mlc_datasets")), "multilabel", seconds=mlc()), about="mlc"
    )
    assert set(found["about"]) == {"mlc"} and set(found["verdict"]) == {HOLDS, NOT}


def test_without_cells_nothing_is_decided_and_nothing_is_said():
    made, asked = study(everywhere(mcc()))
    found = checked((made.iloc[:0], asked))
    assert set(found["verdict"]) == {OPEN} and set(found["at_hand"]) == {"no rows"}
    assert set(found["related"]) == {"no rows", "–"} and (found["evidence"] == "").all()
    assert found.loc[FIRST, "missing"].startswith("chess, biodeg_p2_discrete, ")
    assert not len(claims.check(pool_of([]))), "nothing is asked for"


def test_the_papers_protocol_is_evaluated_as_the_papers_and_the_small_ones_are_not():
    for name, about in (("mcc", "mcc"), ("mlc", "mlc"), ("convergence", "convergence"), ("mcc_times", "mcc"),
                        ("mlc_published", None), ("mlc_sampled", None),
                        ("mlc_related_sampled", None), ("smoke", None)):  # fmt: skip
        found = {about_of(each) for each in composed(name)}
        assert found == {about}, name


# --- the form decides what is enough ---


def test_one_instance_and_one_counterexample_decide_wherever_the_rest_is():
    own = dict.fromkeys(expand("reliefe_all"), 1.0)
    few = {"chess": {name: 0.5 for name in (*expand("reliefe_all"), "relieff", "random_forest")}}
    slow, fast = (study(few, seconds=own | {"relieff": s, "random_forest": 100.0}) for s in (2.0, 0.5))
    found = checked(slow)
    assert found.loc[[TWO, FASTER], "verdict"].tolist() == [HOLDS, OPEN]
    assert found.loc[[TWO, FASTER], "missing"].tolist()[0] == "" and "madelon" in found.loc[FASTER, "missing"]
    found = checked(fast)
    assert found.loc[[TWO, FASTER], "verdict"].tolist() == [HOLDS, NOT]
    # On data sets at large one of them says nothing, unless it is such an instance.
    assert found.loc[[TWO, FASTER], "at_hand"].tolist() == [HOLDS, NOT]
    assert checked(slow).loc[FASTER, "at_hand"] == OPEN


def test_an_average_needs_every_data_set_and_says_what_those_at_hand_say():
    made = study(everywhere(mcc(reliefe=0.7), expand("mcc_datasets")[:4]))
    found = checked(made).loc[FIRST]
    assert (found["verdict"], found["at_hand"]) == (OPEN, HOLDS)
    assert found["missing"] == ", ".join(expand("mcc_datasets")[4:]) and found["datasets"] == "4 of 11"
    assert found["evidence"].endswith(f"(on {', '.join(expand('mcc_datasets')[:4])})")
    one = checked(study(everywhere(mcc(reliefe=0.7), ["chess"]))).loc[FIRST]
    assert (one["verdict"], one["at_hand"], one["repeats"]) == (OPEN, OPEN, "")
    assert one["evidence"].startswith("one data set is too few; lowest average ranks: reliefe 1.00, ")
    assert one["missing"] == ", ".join(expand("mcc_datasets")[1:])


def test_some_of_the_rankers_are_no_evidence_for_a_place_among_all():
    table = everywhere({name: 0.5 for name in (*expand("reliefe_all"), *expand("relieff_all"))})
    found = checked(study(table))
    assert found.loc[FIRST, "at_hand"] == "no rows" and found.loc[FIRST, "evidence"] == ""
    assert found.loc["no consistent gain by embedding", "verdict"] == HOLDS  # asks for no others


def test_failures_leave_a_claim_open_and_limits_do_not():
    key, ranker = "genes: better than mutual information", "mutual_information"
    whole, asked = study({"genes": mcc()})
    rest = whole[whole["ranker"] != ranker]
    for state, missing in (
        ("failed", "genes"),
        ("timeout", "needed: rF1 of both on genes"),
    ):
        bad = rows({"genes": {ranker: 0.0}}, status=state)
        found = checked((pd.concat([rest, bad]), asked)).loc[key]
        assert (found["verdict"], found["missing"]) == (OPEN, missing)
    bad = rows({"genes": {"random_forest": 0.0}}, status="failed")
    others = pd.concat([whole[whole["ranker"] != "random_forest"], bad])
    assert checked((others, asked)).loc[key, "verdict"] == NOT, "the forest is not asked for"


def test_surf_on_genes():
    key = "genes: SURF does not finish"
    ended = rows({"genes": dict.fromkeys(expand("surf"), 0.0)}, status="timeout")
    whole, asked = study({"genes": mcc()}, seconds=mcc())
    rest = whole[~whole["ranker"].isin(expand("surf"))]
    assert checked((pd.concat([rest, ended]), asked)).loc[key, "verdict"] == HOLDS
    one = pd.concat(
        [whole[~whole["ranker"].isin(expand("surf")[1:])], ended[ended["ranker"] == expand("surf")[1]]]
    )
    found = checked((one, asked)).loc[key]
    assert found["verdict"] == NOT and "1 of 3 were stopped, 1 finished" in found["evidence"]
    assert checked((rest, asked)).loc[key, "verdict"] == OPEN


# --- what else is checked ---


def test_verdicts_do_not_depend_on_what_else_is_checked():
    jitter = {("dlbcl", "reliefe"): np.array([-0.3, 0.2, 0.3, -0.2])}
    made = study({"dlbcl": mcc(reliefe=0.6), "chess": mcc()}, jitter=jitter)
    pool = pool_of([made], EXTENTS)
    key = "ReliefE superior on dlbcl"
    alone = claims.check(pool, claims=[claim("mcc", key)]).iloc[0]
    more = [claim("mcc", each) for each in (FIRST, "genes: ReliefF worse", key, "adaptive k alike")]
    found = claims.check(pool, claims=more).set_index("claim").loc[key]
    assert found.tolist() == alone.drop("claim").tolist()


# --- the published rows ---


@pytest.fixture(scope="module")
def published():
    names = ("mcc_published", "mcc_times", "convergence", "adaptive_k", "mlc_sampled", "mlc_published")
    studies = [publish.rows(name) for name in names]
    return studies, claims.check(pool_of(studies)).set_index(["about", "claim"])


def test_what_published_rows_decide_is_decided(published):
    _, found = published
    wanted = {
        ("mcc", TWO): HOLDS,
        ("mcc", FASTER): NOT,
        ("mcc", "no consistent gain by embedding"): HOLDS,
        ("adaptive_k", "different k on different data"): HOLDS,
        ("convergence", "√samples iterations enough"): HOLDS,
    }
    assert found.loc[list(wanted), "verdict"].to_dict() == wanted
    assert set(found.loc["mlc", "verdict"]) == {OPEN}, "samples and other folds decide nothing"


def test_ratios_of_published_times_are_those_of_the_rows(published):
    studies, found = published
    rows = pd.concat([studies[0][0], studies[1][0]])
    mine = rows[rows["dataset"].isin(expand("mcc_datasets")) & rows["fit_seconds"].notna()]
    mine = mine[mine["ranker"].isin(expand("mcc_rankers"))]
    mine = mine.drop_duplicates(["dataset", "ranker", "repeat", "fold"])
    seconds = mine.groupby(["dataset", "ranker"])["fit_seconds"].mean().unstack("ranker")
    relief = [*expand("relieff_all"), "skrebate_relieff", *expand("surf")]
    pairs = [(seconds[a] / seconds[b]).dropna() for a in relief for b in expand("reliefe_all")]
    n, total = sum(int((each <= 1).sum()) for each in pairs), sum(map(len, pairs))
    assert found.loc[("mcc", FASTER), "evidence"].startswith(f"slower in {n} of {total} comparisons")
    largest = max(
        (seconds[a] / seconds[b]).max()
        for a in seconds
        if a not in expand("reliefe_all")
        for b in expand("reliefe_all")
    )
    assert found.loc[("mcc", TWO), "evidence"].startswith(f"largest ratio {largest:.3g}: ")
    whole = seconds.dropna()
    surf, own = whole[list(expand("surf"))], whole[list(expand("reliefe_all"))]
    mean = surf.to_numpy().mean() / own.to_numpy().mean()
    geometric = np.exp(np.log(surf.to_numpy()).mean() - np.log(own.to_numpy()).mean())
    text = found.loc[("mcc", "an order of magnitude faster"), "evidence"]
    assert f"mean times {mean:.3g}, geometric mean of ratios {geometric:.3g}" in text


def test_a_claim_is_evaluated_on_each_repeat():
    extents = EXTENTS | {"mcc": (4, 3)}
    # reliefe is the first on average and in two of three repeats.
    extra = np.repeat([0.1, 0.1, -0.1], 4)
    jitter = {(dataset, "reliefe"): extra for dataset in ("chess", "madelon")}
    made = study(everywhere(mcc(reliefe=0.55, random_forest=0.52)), folds=(4, 3), jitter=jitter)
    found = claims.check(pool_of([made], extents)).set_index("claim").loc[FIRST]
    assert (found["at_hand"], found["repeats"]) == (HOLDS, "2 of 3")
    assert claims.shown(HOLDS, "2 of 3") == "holds (in 2 of 3 repeats)"
    assert checked(study(everywhere(mcc()))).loc[FIRST, "repeats"] == "", "a single repeat"


def test_verdicts_are_counted():
    text = claims.counted(checked(study(everywhere(mcc(reliefe=0.7)))))
    assert text.startswith("Verdicts on 39 claims of the paper: on the paper's data sets: holds 1, ")
