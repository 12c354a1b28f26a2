"""The benchmark suite runs, names what is absent, and tells wrong weights. No test looks at a duration."""

import json
import sys
from contextlib import contextmanager

import numpy as np
import pytest

from benchmarks import all_pairs, embedding_pays, genotypes, own, page, peers, races, tables, workloads
from benchmarks.agreement import compare
from benchmarks.processes import Worker, WorkerError
from benchmarks.workloads import Check, Contender, Data, Workload

pytestmark = pytest.mark.slow


def run(folder, *arguments):
    """Exit code and results of one tiny run."""
    code = peers.main(["--tiny", "--repeats", "2", "--out", str(folder), *arguments])
    return code, json.loads((folder / "results.json").read_text(encoding="utf-8"))


@pytest.fixture(scope="module", autouse=True)
def rounds_asked_for():
    """Time quick implementations no more often than asked for."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(races, "QUICK_SECONDS", 0.0)
        yield


@pytest.fixture(scope="module")
def idle():
    """Workers that wait to be lent again, by what they are."""
    waiting = {}
    yield waiting
    for each in (worker for workers in waiting.values() for worker in workers):
        each.close()


@pytest.fixture
def quick(idle, monkeypatch):
    """Lend each worker to several workloads.

    A new process takes seconds to import an implementation, and to compile one that keeps nothing on disk.
    """

    @contextmanager
    def lent(implementation, python, threads, **extra):
        waiting = idle.setdefault((implementation, str(python), threads, *sorted(extra.items())), [])
        worker = waiting.pop() if waiting else Worker(implementation, python, threads, **extra)
        try:
            yield worker
        finally:
            waiting.append(worker)

    for module in (genotypes, own, races):
        monkeypatch.setattr(module, "Worker", lent)


def of(rows, name, key="name"):
    return [row for row in rows if row[key] == name]


# --- a whole run ---------------------------------------------------------------------------------


@pytest.fixture(scope="module")
def digits_run(tmp_path_factory):
    folder = tmp_path_factory.mktemp("bench")
    missing = folder / "nowhere" / "python"
    code, results = run(folder, "--only", "digits", "sparse", "--peer-python", f"fast_select={missing}")
    return code, results, (folder / "results.md").read_text(encoding="utf-8"), missing


def test_times_of_each_implementation_are_in_the_results(digits_run):
    code, results, _, _ = digits_run
    assert code == 0
    times = results["workloads"]["digits"]["times"]
    for name in ("ours", "skrebate"):
        [row] = of(times, name)
        assert row["absent"] is None
        assert row["runs"] == len(row["seconds"]) >= 2
        assert 0 < row["least_seconds"] <= row["median_seconds"] <= row["most_seconds"]
        assert row["warm_up_seconds"] > 0
        assert results["workloads"]["digits"]["versions"][name]
    assert {"machine", "commit", "date", "threads", "repeats", "tiny", "seconds"} <= set(results)


def test_every_goal_stands_beside_what_was_measured(digits_run):
    _, results, text, _ = digits_run
    goals = results["workloads"]["digits"]["goals"]
    [row] = of(goals, "skrebate / ours", key="goal")
    times = results["workloads"]["digits"]["times"]
    expected = of(times, "skrebate")[0]["median_seconds"] / of(times, "ours")[0]["median_seconds"]
    assert row["wanted"] == 300
    assert row["measured"] == pytest.approx(expected)
    assert row["least"] <= row["most"]
    assert row["met"] is (row["measured"] >= 300)
    for each in goals:
        [line] = [line for line in text.splitlines() if line.startswith(f"| digits | {each['goal']} |")]
        assert line.endswith({True: "| yes |", False: "| NO |", None: "| not measured |"}[each["met"]])


def test_absent_peers_are_named_with_the_reason(digits_run):
    _, results, text, missing = digits_run
    found = results["workloads"]["digits"]
    assert str(missing) in of(found["times"], "fast_select")[0]["absent"]
    assert "--peer-python paper=PATH" in of(found["times"], "paper")[0]["absent"]
    for name in ("fast_select", "paper"):
        assert [row["met"] for row in of(found["goals"], f"{name} / ours", key="goal")] == [None]
        compared = of(found["agreement"], name, key="peer")
        assert compared and all(row["absent"] and row["agrees"] is None for row in compared)
    assert f"ABSENT: there is no {missing}" in text


def test_weights_are_compared_in_the_same_run(digits_run):
    _, results, _, _ = digits_run
    exact, defaults = of(results["workloads"]["digits"]["agreement"], "skrebate", key="peer")
    assert exact["on"] == "tie_free" and exact["agrees"] is True and exact["relative_difference"] < 1e-12
    assert (
        defaults["agrees"] is None
        and 0.5 < defaults["spearman"] < 1
        and defaults["relative_difference"] > 1e-3
    )
    assert "misses of every class" in defaults["reason"]
    [row] = results["workloads"]["sparse"]["agreement"]
    assert row["agrees"] is True and row["peer"] == "ours, dense"


def test_multisurf_is_held_against_its_peers(quick, tmp_path):
    code, results = run(tmp_path, "--only", "multisurf_digits", "multisurf_wide", "multisurf_sparse")
    assert code == 0
    digits, wide, sparse = (
        results["workloads"][f"multisurf_{name}"] for name in ("digits", "wide", "sparse")
    )
    published, compatible = of(digits["agreement"], "skrebate", key="peer")
    assert published["on"] == "two_classes" and compatible["on"] == "tie_free"
    assert published["agrees"] is compatible["agrees"] is True
    assert [goal["wanted"] for goal in digits["goals"]] == [2, 2, 200]
    assert [goal["wanted"] for goal in wide["goals"]] == [4]
    seconds, peak = sparse["goals"]
    assert seconds["wanted"] == 60 and seconds["met"] is True
    if sys.platform == "linux":
        # Of a few rows it may be less than what the allocator gives back meanwhile.
        assert -1 < peak["measured"] < peak["wanted"]


def test_genotypes_are_measured(quick, tmp_path):
    names = ("genotypes", "multisurf_genotypes", "cohort", "huge", "genotypes_two_threads")
    code, results = run(tmp_path, "--only", *names, "--peer-python", f"fast_select={sys.executable}")
    assert code == 0
    found = [results["workloads"][name] for name in names]
    for each in found[:2]:
        assert [row["wanted"] for row in each["goals"]] == [60]
        [compared] = each["agreement"]
        assert compared["agrees"] is None and compared["spearman"] > 0.9
    wanted = [row["wanted"] for row in found[2]["goals"]]
    assert wanted[0::2] == [12, 25] and wanted[1] == wanted[3] == pytest.approx(381.5, abs=0.1)
    assert all(row["measured"] is not None for each in found[2:] for row in each["goals"])
    assert "random genotypes, int8, 60 x 900, 2 classes" in (tmp_path / "results.md").read_text()


def test_own_measurements_run(quick, tmp_path):
    _, results = run(tmp_path, "--only", "memory", "two_threads", "growth")
    found = results["workloads"]
    sparse, dense = found["memory"]["goals"]
    assert dense["wanted"] == 1024 and sparse["wanted"] > 0
    if sys.platform == "linux":
        assert 0 <= dense["measured"] < 1024
        assert "n k classes = 30,000 neighbours" in found["memory"]["notes"][0]
    assert [row["wanted"] for row in found["two_threads"]["goals"]] == [1.7, 1.7]
    assert {"n", "p", "sparse"} <= set(found["growth"]["slopes"])
    assert (tmp_path / "growth.png").read_bytes().startswith(b"\x89PNG")


def test_reliefe_is_held_against_the_umap_calls_it_makes(quick, tmp_path):
    _, results = run(tmp_path, "--only", "reliefe_digits")
    found = results["workloads"]["reliefe_digits"]
    ours, *bare = found["times"]
    assert ours["runs"] >= 2 and bare[0]["name"] == "bare UMAP"
    for each, goal in zip(bare, found["goals"], strict=True):
        [calls] = each["notes"]["calls"]
        assert calls[0] == "fit 150 x 64"
        assert all(call.startswith("transform ") for call in calls[1:])
        assert each["notes"]["n_components"] == [ours["notes"]["n_components"]]
        assert goal["goal"] == f"ours / {each['name']}" and goal["wanted"] == 1.2 and not goal["at_least"]
        assert goal["measured"] == pytest.approx(ours["median_seconds"] / each["median_seconds"])


def test_embedding_pays_runs(tmp_path):
    embedding_pays.main(["--tiny", "--only", "columns", "density", "--out", str(tmp_path)])
    results = json.loads((tmp_path / "embedding_pays.json").read_text(encoding="utf-8"))
    assert [row["p"] for row in results["series"]["columns"]] == [12, 30]
    row = results["series"]["density"][-1]
    ratio = row["ReliefF"]["median_seconds"] / row["ReliefE"]["median_seconds"]
    assert row["relieff_over_reliefe"] == pytest.approx(ratio)
    assert "| 80 | 30 | 100 % |" in (tmp_path / "embedding_pays.md").read_text(encoding="utf-8")
    assert (tmp_path / "embedding_pays.png").read_bytes().startswith(b"\x89PNG")


# --- what goes wrong -----------------------------------------------------------------------------


def small():
    rng = np.random.default_rng(0)
    return {"timed": Data(rng.standard_normal((60, 6)), rng.integers(0, 2, size=60), "60 x 6")}


def against_ourselves(peer_settings, tolerance=1e-12):
    contenders = [
        Contender("ours", "ours", workloads.ours()),
        Contender("other", "ours", peer_settings, goal=1.0),
    ]
    check = Check("other", "ours", "timed", "the same code", tolerance, peer_settings, workloads.ours())
    return Workload("ours twice", small, contenders, lambda data: [check])


@pytest.mark.parametrize(("k", "agrees", "code"), [(10, True, 0), (3, False, 1)])
def test_wrong_weights_are_told(quick, tmp_path, monkeypatch, capsys, k, agrees, code):
    workload = against_ourselves(workloads.ours(n_neighbors=k))
    monkeypatch.setattr(workloads, "race_workloads", lambda tiny=False: {"twice": workload})
    found_code, results = run(tmp_path, "--only", "twice")
    [row] = results["workloads"]["twice"]["agreement"]
    assert row["agrees"] is agrees and found_code == code
    assert (
        "WEIGHTS DISAGREE beyond rounding: twice: other on timed" in capsys.readouterr().err
    ) is not agrees
    verdict = "| yes (within" if agrees else "| NO (within"
    assert verdict in (tmp_path / "results.md").read_text(encoding="utf-8")


def test_an_implementation_that_fails_is_reported_and_the_rest_goes_on(quick, tmp_path, monkeypatch):
    workload = against_ourselves(workloads.ours(n_neighbors=0))
    monkeypatch.setattr(workloads, "race_workloads", lambda tiny=False: {"twice": workload})
    _, results = run(tmp_path, "--only", "twice")
    ours, other = results["workloads"]["twice"]["times"]
    assert ours["runs"] >= 2 and "n_neighbors" in other["absent"]
    assert results["workloads"]["twice"]["goals"][0]["met"] is None


def test_when_our_own_fit_fails_the_run_ends_as_failed(quick, tmp_path, monkeypatch, capsys):
    contenders = [Contender("ours", "ours", workloads.ours(n_neighbors=0))]
    bad = Workload("broken", small, contenders)
    monkeypatch.setattr(workloads, "race_workloads", lambda tiny=False: {"bad": bad})

    def measurement(**options):
        raise WorkerError("no luck")

    monkeypatch.setattr(own, "MEASUREMENTS", {"worse": measurement})
    code, results = run(tmp_path, "--only", "bad", "worse")
    assert code == 1 and "FAILED: bad, worse" in capsys.readouterr().err
    assert "n_neighbors" in results["workloads"]["bad"]["times"][0]["absent"]
    assert results["workloads"]["worse"]["failed"] == "no luck"


def test_a_package_of_the_same_name_is_not_taken_for_the_papers(tmp_path):
    with Worker("paper", sys.executable, 1, PYTHONPATH=str(workloads.ROOT)) as worker:
        with pytest.raises(WorkerError, match=r"reliefe 0\.18 of the paper's authors is needed"):
            worker.ask("hello")


def test_a_worker_that_ends_says_why():
    with Worker("ours", sys.executable, 1) as worker:
        worker._process.kill()
        with pytest.raises(WorkerError, match="ended with code"):
            worker.ask("hello")


def test_a_peer_that_is_none_is_an_error(tmp_path):
    with pytest.raises(SystemExit, match="write fast_select=PATH"):
        run(tmp_path, "--only", "digits", "--peer-python", "numpy=somewhere")


# --- comparing weights ---------------------------------------------------------------------------


def test_agreement_is_judged_by_the_largest_difference(rng):
    ours = rng.standard_normal(30)
    peer = ours.copy()
    assert compare(ours, peer, tolerance=1e-12, reason="")["agrees"] is True
    peer[7] += 1e-3 * np.abs(ours).max()
    wrong = compare(ours, peer, tolerance=1e-4, reason="")
    assert wrong["agrees"] is False
    assert wrong["relative_difference"] == pytest.approx(1e-3)
    assert wrong["pearson"] > 0.999  # a correlation would not have told
    assert compare(ours, peer, tolerance=1e-2, reason="")["agrees"] is True
    assert compare(ours, peer, tolerance=None, reason="")["agrees"] is None


def test_a_constant_factor_is_found_and_does_not_count_as_agreement(rng):
    ours = rng.standard_normal(30)
    result = compare(ours, 4.0 * ours, tolerance=1e-9, reason="")
    assert result["agrees"] is False
    assert result["best_factor"] == pytest.approx(0.25)
    assert result["relative_difference_rescaled"] < 1e-12 and result["spearman"] == pytest.approx(1.0)


@pytest.mark.parametrize("peer", [[0.1, np.nan, 0.3], [0.1, 0.2]])
def test_weights_that_cannot_be_compared_never_agree(peer):
    result = compare([0.1, 0.2, 0.3], peer, tolerance=1.0, reason="")
    assert result["agrees"] is False and result["problem"]
    json.dumps(result, allow_nan=False)


def test_the_slope_of_a_power_law_is_its_exponent():
    sizes = np.array([10.0, 100.0, 1000.0])
    assert own._slope(sizes, 3e-5 * sizes**1.75) == pytest.approx(1.75)


# --- data ----------------------------------------------------------------------------------------


def test_tie_free_data_have_equal_classes_and_no_constant_column():
    data = workloads.tie_free(workloads.digits(False), tiny=False)
    assert np.unique(np.bincount(data.y)).tolist() == [100]
    assert (np.ptp(data.X, axis=0) > 0).all()
    assert all(np.unique(column).shape[0] == column.shape[0] for column in data.X.T)


def test_random_data_in_place_of_a_real_file_say_so(monkeypatch, tmp_path):
    monkeypatch.setenv("RELIEFE_LOCAL_DATA", str(tmp_path))
    for make, shape in ((workloads.optdigits, (200, 64)), (workloads.bibtex, (200, 300))):
        data = make(True)
        assert data.X.shape == shape and data.description.startswith("RANDOM")


def test_real_files_are_read(local_data, monkeypatch):
    monkeypatch.setenv("RELIEFE_LOCAL_DATA", str(local_data))
    data = workloads.optdigits(False)
    assert data.X.shape == (5620, 64) and "real file" in data.description and data.X.max() == 16
    data = workloads.bibtex(False)
    assert data.X.shape == (7395, 1836) and data.y.shape == (7395, 159) and "real file" in data.description
    # Tsoumakas et al., statistics of Mulan's bibtex: 2.402 labels a row.
    assert data.y.sum() / 7395 == pytest.approx(2.402, abs=5e-4)


def test_data_come_back_from_the_file_as_they_were(tmp_path):
    from benchmarks.worker import read_data

    for data in (workloads.wide(True), workloads.sparse_table(True)):
        X, y = read_data(data.write(tmp_path / "data.npz"), None)
        assert (X != data.X).sum() == 0 and (y == data.y).all()
    assert isinstance(read_data(tmp_path / "data.npz", "dense")[0], np.ndarray)


def test_numbers_in_tables_are_readable():
    assert [tables._number(value) for value in (None, 0.12345, 12345.6)] == ["", "0.123", "12,346"]


def test_page_keeps_what_was_not_measured_again(tmp_path, monkeypatch):
    row = "| {} | a / b | ≥ 2 | {} | yes |"
    old = [row.format("digits", 3), row.format("digits", 4), row.format("wide", 5)]
    parts = [
        "# Page",
        "<!-- goals -->",
        *old,
        "",
        "- digits, wide: that machine: commit 1",
        "<!-- /goals -->",
        "End",
    ]
    monkeypatch.setattr(page, "PAGE", tmp_path / "page.md")
    page.PAGE.write_text("\n".join(parts), encoding="utf-8")
    new = [
        "that machine; commit 2",
        "## Goals",
        "| heads |",
        "|---|",
        row.format("digits", 9),
        "## digits",
        "more",
    ]
    (tmp_path / "results.md").write_text("\n".join(new), encoding="utf-8")
    for _ in range(2):  # the second time changes nothing
        page.main([tmp_path])
        text = page.PAGE.read_text(encoding="utf-8")
        assert text.count("| digits |") == 1 and row.format("digits", 9) in text and old[2] in text
        assert "- digits: that machine; commit 2\n- wide: that machine: commit 1\n" in text
        assert text.startswith("# Page\n<!-- goals -->\n| workload") and text.endswith("<!-- /goals -->\nEnd")


# --- all pairs -----------------------------------------------------------------------------------


def test_chi_squared_of_pairs_is_that_of_scipy():
    from scipy.stats import chi2_contingency

    rng = np.random.default_rng(0)
    G, y = rng.integers(0, 3, (101, 7)), rng.integers(0, 2, 101)
    found = all_pairs.statistics_of(G, y, 2, 4)
    assert found.shape == (2, 5)
    for i in (2, 3):
        for j in range(i + 1, 7):
            table = np.zeros((2, 9))
            np.add.at(table, (y, 3 * G[:, i] + G[:, j]), 1)
            expected = chi2_contingency(table[:, table.sum(axis=0) > 0], correction=False)[0]
            assert found[i - 2, j - 2] == pytest.approx(expected, rel=1e-4)


@pytest.mark.parametrize("block", [3, 100])
def test_the_planted_pair_is_the_best_of_all(block, monkeypatch):
    monkeypatch.setattr(all_pairs, "_BLOCK", block)
    rng = np.random.default_rng(1)
    G = rng.integers(0, 3, (300, 10))
    y = (G[:, 7] + G[:, 2]) % 2
    place, own, largest = all_pairs.place_of_pair(G, y, [7, 2])
    others = [
        all_pairs.statistics_of(G, y, i, i + 1)[0, j - i]
        for i in range(10)
        for j in range(i + 1, 10)
        if (i, j) != (2, 7)
    ]
    assert place == 1 and own == pytest.approx(300.0, rel=1e-5)
    assert largest == pytest.approx(max(others), rel=1e-5)
    assert all_pairs.place_of_pair(G, y, [0, 1])[0] == 1 + sum(
        each > all_pairs.statistics_of(G, y, 0, 1)[0, 1] for each in [own, *others]
    )
