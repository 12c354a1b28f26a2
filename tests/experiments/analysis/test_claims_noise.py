"""Noise of the folds in verdicts on the paper's claims: draws of means, and what they may turn."""

import numpy as np
import pytest
from made_up_claims import EXTENTS, claim, everywhere, line, mcc, posteriors, study
from scipy import stats

from experiments.analysis.pairs import PAPER_PAIRS
from experiments.analysis.paper import claim as wording
from experiments.analysis.paper import claims
from experiments.analysis.paper.evidence import Evidence, Folds, drawn_means

HOLDS, NOT = "holds", "does not hold"


def test_draws_are_of_the_corrected_resampled_t():
    rng = np.random.default_rng(0)
    values = rng.normal([0.56, 0.5, 0.5], 0.1, (10, 3)) + rng.normal(0, 1, (10, 1))
    normals, uniforms = rng.normal(size=(200_000, 10)), rng.random(200_000)
    means, draws = drawn_means(values, 1 / 9, normals, uniforms)
    assert means == pytest.approx(values.mean(axis=0))
    gap = values[:, 0] - values[:, 1]
    t = gap.mean() / np.sqrt((1 / 10 + 1 / 9) * gap.var(ddof=1))
    expected = stats.t.sf(abs(t), 9)
    turned = np.mean((draws[:, 0] - draws[:, 1]) * gap.mean() < 0)
    assert turned == pytest.approx(expected, abs=0.004) and 0.01 < expected < 0.49
    at = np.quantile(draws[:, 2], [0.05, 0.5, 0.95])
    half = stats.t.ppf(0.95, 9) * np.sqrt((1 / 10 + 1 / 9) * values[:, 2].var(ddof=1))
    assert at == pytest.approx(means[2] + half * np.array([-1, 0, 1]), abs=0.03 * half)


def test_folds_without_a_number_are_not_drawn():
    values = np.array([[0.5, np.nan, np.nan], [0.7, np.nan, 0.7], [0.6, np.nan, np.nan]])
    means, draws = drawn_means(values, 0.5, np.ones((4, 3)), np.full(4, 0.5))
    assert means[0] == pytest.approx(0.6) and np.isnan(means[1]) and means[2] == 0.7
    assert np.isnan(draws[:, 1]).all() and (draws[:, 2] == 0.7).all(), (
        "one fold has no noise that could be told"
    )


@pytest.mark.parametrize(("factor", "noisy"), [(0.9, True), (1.2, False)])
def test_a_difference_below_the_one_sided_test_at_5_percent_is_within_the_noise(factor, noisy):
    """The best of the others is nearly as good; all the rest is far away."""
    jitter = np.array([-0.02, 0.01, 0.02, -0.01])
    spread = np.sqrt((1 / 4 + 1 / 9) * jitter.var(ddof=1))
    gap = factor * stats.t.ppf(0.95, 3) * spread
    made = study({"dlbcl": mcc(reliefe=0.9, random_forest=0.9 - gap)}, jitter={("dlbcl", "reliefe"): jitter})
    found = line("mcc", "ReliefE superior on dlbcl", made, n_draws=200)
    assert (found["verdict"], found["noise"]) == (HOLDS, "within the noise of the folds" if noisy else "")
    assert wording.shown(found["verdict"], found["noise"]) == HOLDS + (
        ", within the noise of the folds" * noisy
    )


def test_noise_that_all_rankers_share_is_no_noise_of_their_difference():
    shared = np.array([-0.3, 0.2, 0.3, -0.2])
    jitter = {("dlbcl", name): shared for name in claims.MCC_RANKERS}
    made = study({"dlbcl": mcc(reliefe=0.51)}, jitter=jitter)
    assert line("mcc", "ReliefE superior on dlbcl", made, n_draws=100)["noise"] == ""
    alone = study({"dlbcl": mcc(reliefe=0.51)}, jitter={("dlbcl", "reliefe"): shared})
    assert line("mcc", "ReliefE superior on dlbcl", alone, n_draws=100)["noise"] != ""


@pytest.mark.parametrize(("spread", "noisy"), [(0.02, True), (0.001, False)])
def test_rankers_that_noise_alone_may_tell_apart_are_within_it(spread, noisy):
    """Noise makes differences larger: draws around what was measured never make them equal."""
    scores = {name: 0.5 + 0.001 * place for place, name in enumerate(claims.MCC_RANKERS)}
    scores["relieff_adaptive"] = scores["relieff"] + 0.01
    jitter = {
        (dataset, "relieff"): spread * np.array([-1.0, 0.5, 1.0, -0.5]) for dataset in ("chess", "madelon")
    }
    made = study(everywhere(scores), jitter=jitter)
    found = line("mcc", "adaptive k alike", made, n_draws=200)
    assert (found["verdict"], found["noise"] != "") == (NOT, noisy)


def test_draws_of_equal_rankers_differ_by_noise_alone():
    adaptive = claim("mcc", "adaptive k alike")
    jitter = {("chess", "relieff"): np.array([-0.02, 0.01, 0.02, -0.01])}
    made = study({"chess": mcc(relieff=0.9, relieff_adaptive=0.7)}, jitter=jitter)
    folds = Folds(claims.pool_of([made], EXTENTS).paper["mcc"], 5)
    drawn, level = (Evidence(adaptive, ("chess",), folds, draw=3, level=each) for each in (False, True))
    means = {name: level.mean("chess", name, "best_f1") for name in ("relieff", "relieff_adaptive")}
    noise = drawn.mean("chess", "relieff", "best_f1") - 0.9
    assert noise != 0 and means["relieff_adaptive"] == pytest.approx(0.8, abs=1e-12)
    assert means["relieff"] == pytest.approx(0.8 + noise, abs=1e-12)
    table = level.table("best_f1")
    assert table.loc["chess", "relieff"] == pytest.approx(means["relieff"], abs=1e-12)
    assert level.mean("chess", "random_forest", "best_f1") == 0.5


@pytest.mark.parametrize(("highest", "noisy"), [(0.0004, True), (0.3, False)])
def test_probabilities_that_the_samplers_error_may_turn_are_within_the_noise(highest, noisy):
    answers = {(a, b): (0.0003, 0.9997, 0.0) for a, b in PAPER_PAIRS[6:]}
    answers[PAPER_PAIRS[8]] = (highest, 1 - highest, 0.0)
    tested = posteriors(answers)
    tested.table["ess"] = 8000.0
    key = "highest probability against MultiSURF"
    found = line("mcc", key, study(everywhere(mcc())), answers=tested, n_draws=100)
    assert (found["verdict"], found["noise"] != "") == (NOT, noisy)


def test_another_chain_gives_shares_of_the_effective_draws():
    tested = posteriors({("a", "b"): (0.1, 0.7, 0.2), ("c", "d"): (0.1, 0.7, 0.2)})
    assert tested.resampled("a", "b", 1) == tested.of("a", "b"), "no size, no error that could be told"
    tested.table["ess"] = [400.0, np.nan]
    made = np.array([tested.resampled("a", "b", number) for number in range(300)])
    assert np.allclose(made * 400, np.round(made * 400), atol=1e-9) and np.allclose(made.sum(axis=1), 1)
    error = np.sqrt(np.array([0.09, 0.21, 0.16]) / 400)
    assert np.allclose(made.mean(axis=0), [0.1, 0.7, 0.2], atol=4 * error.max() / np.sqrt(300))
    assert np.allclose(made.std(axis=0), error, rtol=0.15)
    assert tested.resampled("b", "a", 5) == tested.resampled("a", "b", 5)[::-1]
    assert tested.resampled("c", "d", 5) == (0.1, 0.7, 0.2)
    assert np.isnan(tested.resampled("a", "c", 5)).all()
