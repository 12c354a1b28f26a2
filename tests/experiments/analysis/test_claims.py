"""Verdicts on the paper's claims: what is enough for one, and what is within the noise of the folds."""

import re
from functools import cache

import numpy as np
import pandas as pd
import pytest
from made_up_claims import EXTENTS, claim, everywhere, line, mcc, mlc, posteriors, rows, study, verdict

from experiments.analysis.pairs import PAPER_PAIRS
from experiments.analysis.paper import claim as wording
from experiments.analysis.paper import claims
from experiments.analysis.paper.claim import Finding, decided
from experiments.analysis.paper.reported import about_of
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


def checked(*studies, about="mcc", answers=None, related=None, n_draws=0):
    pool = claims.pool_of(studies, EXTENTS)
    return claims.check(pool, {about: answers}, {about: related}, n_draws=n_draws).set_index("claim")


# --- all claims ---


def test_every_claim_says_where_it_stands_how_it_is_read_and_why():
    every = claims.all_claims()
    assert len({(each.about, each.key) for each in every}) == len(every) >= 70
    for each in every:
        assert re.search(r"section|appendix", each.place), each.key
        assert each.statement and each.reading and each.reason and each.datasets, each.key
        assert each.form in (claims.EXISTS, claims.ALL, claims.MOST, claims.AVERAGE), each.key
        assert each.rankers or each.about in ("sparsity", "latent_dimension", "adaptive_k", "phases"), (
            each.key
        )
        assert each.general or len(each.datasets) < 5, each.key


def test_claims_are_about_cells_that_the_studies_have():
    for each in claims.all_claims():
        asked = asked_by(each.about)
        assert set(each.datasets) <= {dataset for dataset, _ in asked}, each.key
        if each.about != "convergence":
            assert {(one, other) for one in each.datasets for other in each.rankers} <= asked, each.key
        else:
            known = {ranker for _, ranker in asked}
            assert set(each.rankers) <= known, each.key


@pytest.mark.parametrize(
    ("about", "datasets", "rankers"),
    [
        ("mcc", claims.MCC_DATASETS, claims.MCC_RANKERS),
        ("mlc", claims.MLC_DATASETS, claims.MLC_RANKERS),
    ],
)
def test_the_papers_lists_are_those_of_the_studies(about, datasets, rankers):
    assert asked_by(about) == {(dataset, ranker) for dataset in datasets for ranker in rankers}


def test_with_all_cells_every_claim_about_rankings_has_a_verdict():
    answers = posteriors(
        dict.fromkeys(
            [*PAPER_PAIRS, *((surf, "mutual_information") for surf in claims.SURF)], (0.3, 0.5, 0.2)
        )
    )
    table = everywhere(mcc(), claims.MCC_DATASETS)
    found = checked(study(table, seconds=mcc()), answers=answers)
    assert set(found["about"]) == {"mcc"} and set(found["verdict"]) == {HOLDS, NOT}
    assert (found["missing"] == "").all() and (found["evidence"] != "").all()
    assert (found["verdict"] == found["at_hand"]).all()
    found = checked(study(everywhere(mlc(), claims.MLC_DATASETS), "multilabel", seconds=mlc()), about="mlc")
    assert set(found["about"]) == {"mlc"} and set(found["verdict"]) == {HOLDS, NOT}


def test_without_cells_nothing_is_decided_and_nothing_is_said():
    made, asked = study(everywhere(mcc()))
    found = checked((made.iloc[:0], asked))
    assert set(found["verdict"]) == {OPEN} and set(found["at_hand"]) == {"no rows"}
    assert set(found["related"]) == {"no rows", "–"} and (found["evidence"] == "").all()
    assert found.loc[FIRST, "missing"].startswith("chess, biodeg_p2_discrete, ")
    assert not len(claims.check(claims.pool_of([]))), "nothing is asked for"


def test_the_papers_protocol_is_evaluated_as_the_papers_and_the_small_ones_are_not():
    for name, about in (("mcc", "mcc"), ("mlc", "mlc"), ("convergence", "convergence"), ("mcc_times", "mcc"),
                        ("mlc_published", None), ("mlc_sampled", None),
                        ("mlc_related_sampled", None), ("smoke", None)):  # fmt: skip
        found = {about_of(each) for each in composed(name)}
        assert found == {about}, name


# --- the form decides what is enough ---


@pytest.mark.parametrize(
    ("form", "holds", "yes", "no", "n_missing", "said"),
    [
        *((form, holds, 0, 0, 0, HOLDS if holds else NOT)
          for form in (claims.EXISTS, claims.ALL, claims.AVERAGE) for holds in (True, False)),
        (claims.EXISTS, True, 0, 0, 5, HOLDS),
        (claims.EXISTS, False, 0, 0, 5, OPEN),
        (claims.ALL, True, 0, 0, 5, OPEN),
        (claims.ALL, False, 0, 0, 5, NOT),
        (claims.AVERAGE, True, 0, 0, 1, OPEN),
        (claims.AVERAGE, False, 0, 0, 1, OPEN),
        (claims.MOST, True, 6, 0, 5, HOLDS),
        (claims.MOST, True, 5, 0, 6, OPEN),
        (claims.MOST, False, 0, 6, 5, NOT),
        (claims.MOST, False, 0, 5, 5, NOT),  # half of ten is not most
        (claims.MOST, False, 0, 5, 6, OPEN),
        (claims.MOST, True, 6, 5, 0, HOLDS),
    ],
)  # fmt: skip
def test_forms(form, holds, yes, no, n_missing, said):
    assert decided(form, Finding(holds, "", yes, no), n_missing) == said


def test_one_instance_and_one_counterexample_decide_wherever_the_rest_is():
    own = dict.fromkeys(claims.RELIEFE, 1.0)
    few = {"chess": {name: 0.5 for name in (*claims.RELIEFE, "relieff", "random_forest")}}
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
    made = study(everywhere(mcc(reliefe=0.7), claims.MCC_DATASETS[:4]))
    found = checked(made).loc[FIRST]
    assert (found["verdict"], found["at_hand"]) == (OPEN, HOLDS)
    assert found["missing"] == f"{', '.join(claims.MCC_DATASETS[4:])} (every ranker)"
    assert f"(on {', '.join(claims.MCC_DATASETS[:4])}; " in found["evidence"]
    one = checked(study(everywhere(mcc(reliefe=0.7), ["chess"]))).loc[FIRST]
    assert (one["verdict"], one["at_hand"], one["noise"]) == (OPEN, OPEN, "")
    assert one["evidence"].startswith("one data set is too few; there lowest average ranks: reliefe 1.00, ")
    assert "(on chess; " in one["evidence"]
    assert one["missing"] == f"{', '.join(claims.MCC_DATASETS[1:])} (every ranker)"


def test_some_of_the_rankers_are_no_evidence_for_a_place_among_all():
    table = everywhere({name: 0.5 for name in (*claims.RELIEFE, *claims.RELIEFF)})
    found = checked(study(table))
    assert found.loc[FIRST, "at_hand"] == "no rows" and found.loc[FIRST, "evidence"] == ""
    assert found.loc["no consistent gain by embedding", "verdict"] == HOLDS  # asks for no others


def test_failures_leave_a_claim_open_and_limits_do_not():
    key, ranker = "genes: better than mutual information", "mutual_information"
    whole, asked = study({"genes": mcc()})
    rest = whole[whole["ranker"] != ranker]
    for state, missing in (
        ("failed", f"genes × {ranker}"),
        ("timeout", "needed: rF1 of mutual information"),
    ):
        bad = rows({"genes": {ranker: 0.0}}, status=state)
        found = checked((pd.concat([rest, bad]), asked)).loc[key]
        assert (found["verdict"], found["missing"]) == (OPEN, missing)
    bad = rows({"genes": {"random_forest": 0.0}}, status="failed")
    others = pd.concat([whole[whole["ranker"] != "random_forest"], bad])
    assert checked((others, asked)).loc[key, "verdict"] == NOT, "the forest is not asked for"


def test_surf_on_genes():
    key = "genes: SURF does not finish"
    ended = rows({"genes": dict.fromkeys(claims.SURF, 0.0)}, status="timeout")
    whole, asked = study({"genes": mcc()}, seconds=mcc())
    rest = whole[~whole["ranker"].isin(claims.SURF)]
    assert checked((pd.concat([rest, ended]), asked)).loc[key, "verdict"] == HOLDS
    one = pd.concat([whole[~whole["ranker"].isin(claims.SURF[1:])], ended[ended["ranker"] == claims.SURF[1]]])
    found = checked((one, asked)).loc[key]
    assert (
        found["verdict"] == NOT
        and "1 of 3 SURF variants were stopped on genes, 1 finished" in found["evidence"]
    )
    assert checked((rest, asked)).loc[key, "verdict"] == OPEN


# --- rankers that are the same ---


def test_rankers_that_are_the_same_are_named_once_and_said_to_be_the_same():
    names = ("relieff", "relieff_absmean")
    rng = np.random.default_rng(0)
    table = everywhere({name: 0.3 + 0.01 * place for place, name in enumerate(claims.MCC_RANKERS)})
    table |= {each: table[each] | dict.fromkeys(names, 0.9) for each in table}
    shared = rng.normal(0, 0.01, 4)
    jitter = {(dataset, name): shared * (1 + 2e-16) for dataset in table for name in names}
    told = line("mcc", FIRST, study(table, jitter=jitter))["evidence"]
    assert told.startswith("lowest average ranks: relieff = relieff_absmean 1.50, ")
    assert "the same on chess, madelon: relieff = relieff_absmean" in told
    apart = {key: rng.permutation(value) for key, value in jitter.items()}
    told = line("mcc", FIRST, study(table, jitter=apart))["evidence"]
    assert (
        told.startswith("lowest average ranks: relieff 1.50, relieff_absmean 1.50, ") and "same" not in told
    )
    genes = study({"genes": table["chess"]}, jitter={("genes", name): shared for name in names})
    assert "same" not in line("mcc", "genes: ReliefF worse", genes)["evidence"], "it compares neither"


# --- what else is checked ---


def test_verdicts_do_not_depend_on_what_else_is_checked():
    jitter = {("dlbcl", "reliefe"): np.array([-0.3, 0.2, 0.3, -0.2])}
    made = study({"dlbcl": mcc(reliefe=0.6), "chess": mcc()}, jitter=jitter)
    pool = claims.pool_of([made], EXTENTS)
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
    return studies, claims.check(claims.pool_of(studies), n_draws=20).set_index(["about", "claim"])


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
    rows_of_times = studies[1][0]
    mine = rows_of_times[
        rows_of_times["dataset"].isin(claims.MCC_DATASETS) & (rows_of_times["kind"] == "ranking")
    ]
    seconds = mine.groupby(["dataset", "ranker"])["fit_seconds"].mean().unstack("ranker")
    relief = [*claims.RELIEFF, "skrebate_relieff", *claims.SURF]
    slower = [seconds[a] < seconds[b] for a in relief for b in claims.RELIEFE]
    n, total = int(np.sum(slower)), np.size(slower)
    assert found.loc[("mcc", FASTER), "evidence"].startswith(f"slower in {n} of {total} comparisons")
    largest = max(
        (seconds[a] / seconds[b]).max() for a in seconds if a not in claims.RELIEFE for b in claims.RELIEFE
    )
    assert found.loc[("mcc", TWO), "evidence"].startswith(f"largest ratio {largest:.3g}: ")
    surf, own = seconds[list(claims.SURF)], seconds[list(claims.RELIEFE)]
    mean = surf.to_numpy().mean() / own.to_numpy().mean()
    geometric = np.exp(np.log(surf.to_numpy()).mean() - np.log(own.to_numpy()).mean())
    told = found.loc[("mcc", "an order of magnitude faster"), "evidence"]
    assert f"mean times {mean:.3g}, geometric mean of the ratios {geometric:.3g}" in told


# --- in words ---


def test_what_most_claims_lack_is_said_once():
    whole = "har, genes (every ranker); chess × A"
    shared, own = wording.shared_missing(
        [whole, "", whole, f"{whole}; times of chess × B", "genes (every ranker)"]
    )
    assert shared == whole
    assert own == ["", "", "", "also times of chess × B", "genes (every ranker)"]
    # What only some lack stays with them.
    some = ["har (every ranker)"] * 3 + ["har (every ranker); chess × A"] * 2
    assert wording.shared_missing(some) == ("har (every ranker)", [""] * 3 + ["also chess × A"] * 2)
    assert wording.shared_missing(["a", "b"]) == ("", ["a", "b"])
    assert wording.shared_missing(["", ""]) == ("", ["", ""])


def test_what_claims_lack_is_shared_by_what_they_are_about():
    made = study(everywhere(mcc(), claims.MCC_DATASETS[:2]))
    found = claims.check(claims.pool_of([made, study({"medical": mlc()}, "multilabel")], EXTENTS), n_draws=0)
    said = wording.lacking(found)
    assert said.startswith(
        "Missing, evaluated as the paper's, where a line says nothing else: optdigits, madelon, "
    )
    assert said.count("(every ranker), for claims about multi-") == 2
    told = wording.told(found).set_index(found["claim"])["numbers"]
    assert (
        "Missing" not in told[FIRST] and "Missing: delicious (every ranker)" in told["delicious and cosine"]
    )


def test_a_verdict_without_a_number_has_no_noise():
    assert wording.shown(OPEN, "within the noise of the folds") == OPEN
    assert verdict("mcc", FIRST, study(everywhere(mcc()))) == HOLDS  # all are first
