"""Whole studies made up quickly: rows of data sets × rankers × repeats × folds with skills that are known."""

from __future__ import annotations

import cheap
import numpy as np

from experiments.datasets import load
from experiments.evaluation.cell import cells_of
from experiments.metrics.relative_f1 import area_under_relative_f1
from experiments.store.rows import to_frame, to_table
from experiments.store.store import Store

#: The paper's rankers for one class per sample: name → (name to show, skill, seconds of a fit).
RANKERS = {
    "reliefe": ("ReliefE", 0.030, 0.3),
    "reliefe_absmean": ("ReliefE-absMean", 0.025, 0.3),
    "reliefe_adaptive": ("ReliefE-adaptive", 0.035, 0.35),
    "reliefe_absmean_adaptive": ("ReliefE-absMean-adaptive", 0.040, 0.35),
    "relieff": ("ReliefF", 0.020, 2.0),
    "relieff_absmean": ("ReliefF-absMean", 0.020, 2.0),
    "relieff_adaptive": ("ReliefF-adaptive", 0.015, 2.5),
    "relieff_absmean_adaptive": ("ReliefF-absMean-adaptive", 0.015, 2.5),
    "skrebate_relieff": ("ReliefF (skrebate)", 0.010, 20.0),
    "skrebate_surf": ("SURF (skrebate)", 0.010, 40.0),
    "skrebate_multisurf": ("MultiSURF (skrebate)", 0.0, 50.0),
    "skrebate_multisurf_star": ("MultiSURF* (skrebate)", 0.0, 60.0),
    "random_forest": ("Random forest", 0.02, 0.5),
    "mutual_information": ("Mutual information", -0.05, 1.0),
}
MCC_DATASETS = (
    "chess",
    "biodeg_p2_discrete",
    "optdigits",
    "madelon",
    "har",
    "pd_speech_features",
    "dlbcl",
    "tumors_c",
    "ap_ovary_kidney",
    "ohscal",
    "genes",
)
MLC_DATASETS = (
    "delicious",
    "imdb",
    "medical",
    "bibtex",
    "education1",
    "health1",
    "entertainment1",
    "science1",
    "social1",
)
DISTANCES = {
    "f1": "F1",
    "accuracy": "accuracy",
    "subset": "subset",
    "hamming": "Hamming",
    "cosine": "cosine",
    "hyperbolic": "hyperbolic",
}


def mlc_rankers():
    """The paper's 48 rankers of labels."""
    own = [name for name in RANKERS if name.startswith(("reliefe", "relieff"))]
    return {
        f"{name}_{key}": (f"{RANKERS[name][0]} ({said})", RANKERS[name][1] - 0.01 * place, RANKERS[name][2])
        for name in own
        for place, (key, said) in enumerate(DISTANCES.items())
    }


def config(
    dataset, ranker, label, *, study="made_up", task="multiclass", results="results", seed=0, **protocol
):
    """A resolved configuration, complete enough for a report and for cells in a store."""
    made = cheap.config(
        results,
        cheap.function("between"),
        ranker_key=ranker,
        dataset={"seed": seed},
        dataset_key=dataset,
        **{"name": "paper", "n_splits": 10, "n_repeats": 10, "grid_points": 50, **protocol},
    )
    made["dataset"] |= {
        "task": task,
        "expected": {"rows": 60, "features": 6, "classes": 3, "nonzero_share": 1.0},
        "paper": None,
        "differs": None,
        "citation": "made up",
        "licence": "none",
        "url": "nowhere",
    }
    made["ranker"] = {**made["ranker"], "display_name": label, "n_iterations": None, "mark": ranker}
    if task == "multilabel" and ranker.rpartition("_")[2] in DISTANCES:
        made["ranker"]["target_distance"] = ranker.rpartition("_")[2]
    return made | {"study": study, "protocol_key": made["protocol"]["name"]}


def study(
    datasets=MCC_DATASETS,
    rankers=None,
    *,
    name="made_up",
    task="multiclass",
    n_repeats=2,
    n_splits=5,
    protocol="paper",
    n_features=200,
    n_points=12,
    noise=0.01,
    seed=0,
    states=None,
):
    """Make up a study.

    ``states``: (data set, ranker) → "missing", "failed", "timeout", "out_of_memory" (all folds), "partial" (the
    last repeat is missing) or "one failed" (the last fold); either name may be "*". Returns frame and configs.
    """
    rankers = dict(RANKERS) if rankers is None else rankers
    if not isinstance(rankers, dict):
        rankers = {
            ranker: (ranker.upper(), 0.01 * place, 1.0 + place) for place, ranker in enumerate(rankers)
        }
    states = states or {}
    rng = np.random.default_rng(seed)
    grid = np.unique(np.r_[np.geomspace(1, n_features, n_points).round(), 10, 50, 100, n_features]).astype(
        int
    )
    grid = grid[grid <= n_features]
    rows, configs = [], []
    for number, dataset in enumerate(datasets):
        level = 0.6 + 0.3 * number / max(len(datasets), 2)
        whole = level + noise * rng.normal(size=(n_repeats, n_splits))
        for ranker, (label, skill, seconds) in rankers.items():
            made = config(
                dataset, ranker, label, study=name, task=task, seed=number, name=protocol,
                n_splits=n_splits, n_repeats=n_repeats,
            )  # fmt: skip
            configs.append(made)
            state = next(
                (
                    states[key]
                    for key in ((dataset, ranker), (dataset, "*"), ("*", ranker), ("*", "*"))
                    if key in states
                ),
                "ok",
            )
            weights = np.sort(rng.random(n_features))[::-1] + skill
            for repeat in range(n_repeats):
                if state == "missing" or (state == "partial" and repeat == n_repeats - 1):
                    continue
                for fold in range(n_splits):
                    last = repeat == n_repeats - 1 and fold == n_splits - 1
                    status = state if state in ("failed", "timeout", "out_of_memory") else "ok"
                    if state == "one failed" and last:
                        status = "failed"
                    base = {
                        "cell_key": f"{dataset} {ranker} {repeat}",
                        "kind": "ranking",
                        "dataset": dataset,
                        "ranker": ranker,
                        "protocol": protocol,
                        "repeat": repeat,
                        "fold": fold,
                        "seed": 0,
                        "status": status,
                        "n_train": 540,
                        "n_test": 60,
                        "versions": '{"numpy": "2.0"}',
                        "machine": '{"system": "Linux", "processor": "made up", "cores": 2}',
                    }
                    if status != "ok":
                        rows.append(base | {"error": f"RankerError: made up to be {status}"})
                        continue
                    share = np.log(grid) / np.log(grid[-1])
                    peak = skill + noise * rng.normal()
                    end = whole[repeat, fold]
                    curve = end * share**0.1 + (0.08 + peak) * np.sin(np.pi * share**2)
                    curve[-1] = end
                    relative = curve / end
                    rows.append(
                        base
                        | {
                            "n_features": n_features,
                            "fit_seconds": seconds * (1 + number) * rng.uniform(0.9, 1.1),
                            "warm_up_seconds": 0.5,
                            "learner_seconds": 0.1,
                            "peak_memory_mib": 100.0 + seconds,
                            "n_threads": 1,
                            "learner_converged": True,
                            "grid": grid,
                            "weights": weights,
                            "latent_dimension": 5 if "reliefe" in ranker else None,
                            "phase_seconds": '{"distances": 0.5, "weights": 1.5, "total": 2.0}',
                            **{
                                column: value
                                for average, times in (("micro", 1.0), ("macro", 0.9))
                                for column, value in (
                                    (f"f1_{average}", times * curve),
                                    (f"f1_{average}_all", times * end),
                                    (f"rf1_{average}", relative),
                                    (f"aurf1_{average}", area_under_relative_f1(relative)),
                                    (f"best_f1_{average}", times * curve.max()),
                                )
                            },
                        }
                    )
    return to_frame(to_table(rows)), configs


def store(frame, configs, results):
    """Write made-up rows where ``experiments.execution.runner.collect_study(configs)`` finds them; return the
    configurations.

    Every data set's source is that of ``cheap.blobs``, so keys are those of real cells.
    """
    results.mkdir(parents=True, exist_ok=True)
    placed = [{**each, "paths": {"results": str(results), "local_data": str(results)}} for each in configs]
    checksums, tables = {}, {}
    for each in placed:
        key = each["dataset_key"]
        if key not in checksums:
            checksums[key] = load(each["dataset"], each["paths"]["local_data"]).checksum
        mine = frame[(frame["dataset"] == key) & (frame["ranker"] == each["ranker_key"])]
        for cell in cells_of(each, checksum=checksums[key], task=each["dataset"]["task"]):
            rows = mine[mine["repeat"] == cell.repeat].to_dict("records")
            if rows:
                tables[cell.key] = to_table([row | {"cell_key": cell.key} for row in rows])
    Store(results).write_many(tables)
    return placed
