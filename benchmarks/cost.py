"""What the paper's studies take, by the model of ``experiments.metrics.duration``: the table of ``docs/cost.md``.

Hours of two cores before forests were grown on what is not zero, before logistic regression knew the curvature of
each class and before scores were looked up; hours of two cores now; and of 64 cores, where each repeat of a ranker
is one piece of work. Nothing is run, and data need not be here: sizes are those that the data sets' files state.

Run from the project root: ``python benchmarks/cost.py``.
"""

from __future__ import annotations

import math
import sys
from collections.abc import Sequence
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
sys.path.insert(0, str(ROOT))

from experiments.config.compose import compose_runs  # noqa: E402
from experiments.metrics.duration import Size, fold_seconds  # noqa: E402
from experiments.printing import prepare_output  # noqa: E402

#: Share of the learner's fits that are left, by whether it goes on from fewer features to more.
_LEFT = {True: 0.71, False: 0.46}
_LABELLED = ("emotions", "scene", "yeast", "birds")
_CLASSES = ("isolet", "fbis", "la1", "nakayama", "tox_171", "arcene", "basehock")


def size_of(dataset: dict) -> Size | None:
    """Return the size that a data set's file states."""
    stated = {
        **(dataset.get("paper") or {}),
        **{k: v for k, v in dataset["expected"].items() if v is not None},
    }
    if not all(stated.get(key) for key in ("rows", "features", "classes")):
        return None
    share = stated.get("nonzero_share") or 1.0
    n, p = stated["rows"], stated["features"]
    return Size(
        n, p, max(int(share * n * p), 1), stated["classes"], dataset["task"] == "multilabel", share < 0.15
    )


def hours(configs: Sequence[dict]) -> tuple[float, float, float] | None:
    """Return the hours of one data set: two cores before, two cores now, 64 cores now."""
    size = size_of(configs[0]["dataset"])
    if size is None:
        return None
    before, now = 0.0, []
    computed: set[str] = set()
    for config in configs:
        protocol = config["protocol"]
        learner = protocol["multilabel_learner" if size.labels else "learner"]
        model = fold_seconds(config["ranker"], learner, size, protocol["grid_points"])
        embedding = sum(took for name, took in model.embeddings.items() if name not in computed)
        computed.update(model.embeddings)
        if size.labels:
            n_points = min(protocol["grid_points"], size.features)
            old = n_points * 0.1 * 6.5e-6 * (1 + size.targets / 32) * 0.9 * size.rows * 1000
        else:
            old = model.learning * (2.0 if size.targets > 2 else 1.0)
        left = _LEFT[not size.labels] if now else 1.0
        before += model.ranking + embedding + old
        now.append(model.ranking + embedding + left * model.learning)
    n_folds, n_repeats = protocol["n_splits"] * protocol["n_repeats"], protocol["n_repeats"]
    rounds = math.ceil(len(now) * n_repeats / 64)
    of_64 = max(rounds * protocol["n_splits"] * sum(now) / len(now), protocol["n_splits"] * max(now))
    return before * n_folds / 7200, sum(now) * n_folds / 7200, of_64 / 3600


def shown(value: float) -> str:
    """Write hours with two digits."""
    return f"{value:,.0f}" if value >= 10 else f"{value:.1f}" if value >= 1 else f"{value:.2f}"


def main() -> None:
    labels = ["study=mlc", f"dataset={','.join(_LABELLED)}"]
    classes = ["study=mcc", f"dataset={','.join(_CLASSES)}"]
    for title, argv in (
        ("One class per sample, the paper's", ["study=mcc"]),
        ("Labels, the paper's", ["study=mlc"]),
        ("One class per sample, related", classes),
        ("Labels, related", labels),
    ):
        of_data: dict[str, list[dict]] = {}
        for config in compose_runs(argv).configs:
            of_data.setdefault(config["dataset_key"], []).append(config)
        n_rankers = len(next(iter(of_data.values())))
        print(f"\n{title}: {n_rankers} rankers\n")
        print(
            "| data set | samples | features | classes or labels "
            "| 2 cores before, h | 2 cores now, h | 64 cores, h |"
        )
        print("|---|---|---|---|---|---|---|")
        for name, configs in of_data.items():
            size, found = size_of(configs[0]["dataset"]), hours(configs)
            if found is None:
                continue
            told = " | ".join(map(shown, found))
            print(f"| {name} | {size.rows:,} | {size.features:,} | {size.targets:,} | {told} |")


if __name__ == "__main__":
    prepare_output()
    main()
