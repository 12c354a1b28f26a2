"""One table in every format, and what is typed to load it."""

import numpy as np
import pandas as pd
from scipy.io import savemat
from sklearn.datasets import dump_svmlight_file

from experiments.config.compose import compose_runs
from experiments.datasets import load

WRITERS = {}


def writer(function):
    WRITERS[function.__name__] = function
    return function


def table(n_rows=40):
    """Whole numbers, which every format holds exactly; ``label`` is a class, ``l1`` and ``l2`` are labels."""
    rng = np.random.default_rng(4)
    frame = pd.DataFrame(rng.integers(-3, 9, (n_rows, 3)), columns=["x1", "x2", "x3"]).astype(float)
    frame["l1"] = (frame["x1"] > 3).astype(int)
    frame["l2"] = (frame["x2"] > 1).astype(int)
    frame["label"] = frame["l1"] + (rng.random(n_rows) < 0.4)
    return frame


def features(frame):
    return frame[["x1", "x2", "x3"]].to_numpy()


@writer
def csv(folder, frame, targets):
    frame[["x1", "x2", *targets, "x3"]].to_csv(folder / "t.csv", index=False)
    return "t.csv"


@writer
def parquet(folder, frame, targets):
    frame[["x1", "x2", *targets, "x3"]].to_parquet(folder / "t.parquet")
    return "t.parquet"


@writer
def arff(folder, frame, targets):
    several = len(targets) > 1
    kinds = {name: "{0,1}" if several else "numeric" for name in targets}
    columns = ["x1", *targets, "x2", "x3"]
    lines = (
        ["@relation t"] + [f"@attribute {name} {kinds.get(name, 'numeric')}" for name in columns] + ["@data"]
    )
    lines += [",".join(str(int(value)) for value in row) for row in frame[columns].to_numpy()]
    (folder / "t.arff").write_text("\n".join(lines) + "\n")
    return "t.arff"


@writer
def libsvm(folder, frame, targets):
    if len(targets) == 1:
        dump_svmlight_file(
            features(frame), frame[targets[0]].to_numpy(), str(folder / "t.svm"), zero_based=False
        )
    else:
        lines = []
        for row, labels in zip(features(frame), frame[targets].to_numpy(), strict=True):
            pairs = " ".join(f"{place}:{value:g}" for place, value in enumerate(row, start=1) if value)
            lines.append(f"{','.join(str(place) for place in np.flatnonzero(labels) + 1)} {pairs}")
        (folder / "t.svm").write_text("\n".join(lines) + "\n")
    return "t.svm"


@writer
def mat(folder, frame, targets):
    targeted = {name: frame[name].to_numpy() for name in targets}
    savemat(folder / "t.mat", {"X": features(frame), **targeted})
    return "t.mat"


def typed(kind, path, target):
    extra = {"mat": ["dataset.features=X"]}.get(kind, [])
    return [
        f"dataset={kind}",
        f"dataset.path={path}",
        *([] if kind == "libsvm" else [f"dataset.target={target}"]),
        *extra,
    ]


def loaded(*argv):
    (config,) = compose_runs(argv).configs
    return load(config["dataset"], config["paths"]["local_data"])
