"""Which rows of which studies the paper's claims are checked on."""

import pandas as pd
import pytest
from made_up_claims import EXTENTS, everywhere, mcc, mlc, posteriors, rows, study

from experiments.analysis.claims import check as claims
from experiments.analysis.claims.cells import expand, pool_of
from experiments.analysis.same_rankers import STAND_INS

HOLDS, NOT, OPEN = "holds", "does not hold", "cannot be decided"
FIRST, FASTER = "lowest rank by max F1", "faster than all Relief rankers"


def checked(*studies, about="mcc", answers=None, related=None):
    pool = pool_of(studies, EXTENTS)
    return claims.check(pool, {about: answers}, {about: related}).set_index("claim")


def test_times_of_one_study_and_scores_of_another_are_looked_at_together():
    table = everywhere(mcc(reliefe=0.7), expand("mcc_datasets"))
    scores = study(table)
    times = study(table, seconds=dict.fromkeys(expand("mcc_rankers"), 1.0), protocol="timed")
    assert checked(scores).loc[[FIRST, FASTER], "verdict"].tolist() == [HOLDS, OPEN]
    for studies in ((scores, times), (times, scores)):
        assert checked(*studies).loc[[FIRST, FASTER], "verdict"].tolist() == [HOLDS, NOT]


def test_a_whole_repeat_is_enough_for_times_and_not_for_scores():
    extents = EXTENTS | {"mcc": (4, 2)}
    table = {"chess": mcc(reliefe=0.7), "madelon": mcc(reliefe=0.7)}
    one = study(table, seconds=dict.fromkeys(expand("mcc_rankers"), 1.0))
    found = claims.check(pool_of([one], extents)).set_index("claim")
    assert found.loc[FASTER, "verdict"] == NOT and found.loc[FIRST, "at_hand"] == "no rows"
    made, asked = one
    torn = (made[made["fold"] < 3], asked)
    assert claims.check(pool_of([torn], extents)).set_index("claim").loc[FASTER, "at_hand"] == "no rows"


@pytest.mark.parametrize(
    "settings",
    [
        {"max_rows": 1000},
        {"grid_points": 10},
        {"learner": {"_target_": "x", "C": 10.0}},
    ],
)
def test_a_part_of_the_samples_or_another_evaluation_gives_no_verdict(settings):
    made = study(everywhere(mcc(), expand("mcc_datasets")), seconds=mcc(), settings=settings)
    found = checked(made)
    assert set(found["verdict"]) == {OPEN} and set(found["at_hand"]) == {"no rows"}


def test_other_folds_and_small_forests_give_no_verdict():
    made = study(everywhere(mcc(), expand("mcc_datasets")), folds=(5, 1), seconds=mcc())
    assert set(checked(made)["at_hand"]) == {"no rows"}
    table = everywhere(mlc(), expand("mlc_datasets"))
    for trees, said in ((10, {"no rows"}), (100, {HOLDS, NOT})):
        forest = {"multilabel_learner": {"_target_": "x", "n_estimators": trees}}
        made = study(table, "multilabel", seconds=mlc(), settings=forest)
        assert set(checked(made, about="mlc")["at_hand"]) == said


def test_a_fold_counts_once_and_seeds_are_not_mixed():
    table = everywhere(mcc(reliefe=0.7))
    made, asked = study(table)
    other = rows(everywhere(mcc(random_forest=0.9)), seed=1)
    half = other[other["ranker"].isin(["random_forest", "reliefe"])]
    found = checked((made, asked), (pd.concat([made, half]), asked)).loc[FIRST]
    assert found["at_hand"] == HOLDS and "reliefe 1.00" in found["evidence"]


def test_related_data_sets_have_a_verdict_of_their_own():
    own = study(everywhere(mcc(reliefe=0.7), expand("mcc_datasets")))
    related = study(everywhere(mcc(random_forest=0.7), ["isolet", "colon"]))
    found = checked(own, related)
    assert found.loc[FIRST, ["verdict", "at_hand", "related"]].tolist() == [HOLDS, HOLDS, NOT]
    assert "(on isolet, colon)" in found.loc[FIRST, "evidence_related"]
    assert "isolet" not in found.loc[FIRST, "evidence"]
    assert found.loc["madelon: SURF better at first", "related"] == "–"
    one = study(everywhere(mcc(random_forest=0.7), ["isolet"]))
    found = checked(own, one).loc[FIRST]
    assert found["related"] == OPEN and "(on isolet)" in found["evidence_related"]
    assert found["evidence_related"].startswith(
        "one data set is too few; lowest average ranks: random_forest 1.00, "
    )
    # Made-up data and data of one's own are not related.
    mine = study(everywhere(mcc(random_forest=0.7), ["xor", "patients"]))
    assert checked(own, mine).loc[FIRST].equals(checked(own).loc[FIRST])


def test_of_related_data_sets_the_repeats_that_all_rankers_have_are_compared():
    first = everywhere(mcc(reliefe=0.7), ["isolet", "colon"])
    more = rows(everywhere({"reliefe": 0.1}, ["isolet", "colon"]))
    made, asked = study(first)
    found = checked((pd.concat([made, more.assign(repeat=1)]), asked)).loc[FIRST]
    assert found["related"] == HOLDS, "the second repeat of one ranker is left out"


def test_posteriors_of_related_data_sets_are_not_those_of_the_papers():
    made = study(everywhere(mcc(), [*expand("mcc_datasets"), "isolet", "colon"]))
    pair = ("reliefe_absmean_adaptive", "skrebate_multisurf")
    own, other = (posteriors({pair: three}) for three in ((0.8, 0.2, 0.0), (0.1, 0.9, 0.0)))
    found = checked(made, answers=own, related=other).loc["80 % against MultiSURF"]
    assert found[["verdict", "related"]].tolist() == [HOLDS, NOT]


# --- ours in place of skrebate's ---


def standing_in(scores):
    return {STAND_INS.get(name, name): score for name, score in scores.items()}


def test_stand_ins_count_where_skrebates_rankers_were_not_run_and_never_for_times():
    scores = mcc(skrebate_surf=0.7)
    ours = study({name: standing_in(scores) for name in ("chess", "madelon")}, seconds=standing_in(mcc()))
    own = study({"chess": mcc(skrebate_surf=0.9)}, seconds=mcc())
    found = checked(ours)
    told = found.loc[FIRST, "evidence"]
    assert told.startswith("lowest average ranks: surf_as_skrebate 1.00")
    assert "chess, " in found.loc["SURF slowest", "missing"]
    assert found.loc["SURF slowest", "at_hand"] == "no rows"
    both = checked(ours, own)
    assert "surf_as_skrebate 1.00" not in both.loc[FIRST, "evidence"]
    assert both.loc[FASTER, "evidence"].startswith("slower in 48 of 48 comparisons")


def test_stand_ins_do_not_finish_for_skrebates_rankers():
    ended = rows({"genes": dict.fromkeys(expand("surf"), 0.0)}, status="timeout")
    made, asked = study({"genes": standing_in(mcc()) | mcc()}, seconds=mcc() | standing_in(mcc()))
    made = pd.concat([made[~made["ranker"].isin(expand("surf"))], ended])
    found = checked((made, asked))
    assert found.loc["genes: SURF does not finish", "verdict"] == HOLDS
