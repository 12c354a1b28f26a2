"""A small data set of OpenML, dense and sparse."""

import numpy as np
from scipy import sparse

ROWS = 40
_rng = np.random.default_rng(5)
VALUES = _rng.integers(0, 4, size=(ROWS, 3))
CLASSES = np.array(["no", "yes"])[np.arange(ROWS) % 2]
DENSE = (
    "@relation x\n@attribute key string\n@attribute a numeric\n@attribute b numeric\n@attribute c numeric\n"
)
DENSE += "@attribute class {no,yes}\n@data\n"
DENSE += "".join(f"r{row},{','.join(map(str, VALUES[row]))},{CLASSES[row]}\n" for row in range(ROWS))
DENSE = DENSE.encode()
SPARSE = "@relation x\n@attribute a numeric\n@attribute b numeric\n@attribute c numeric\n"
SPARSE += "@attribute class {no,yes}\n@data\n"
for row in range(ROWS):
    cells = [f"{place} {value}" for place, value in enumerate(VALUES[row]) if value]
    cells += ["3 yes"] if CLASSES[row] == "yes" else []
    SPARSE += "{" + ",".join(cells) + "}\n"
SPARSE = SPARSE.encode()


def block(server, **source):
    return {
        "name": "x",
        "task": "multiclass",
        "source": {
            "_target_": "experiments.datasets.openml.openml",
            "server": server.address + "/",
            **source,
        },
    }


def is_right(data):
    X = data.X.toarray() if sparse.issparse(data.X) else data.X
    assert np.array_equal(X, VALUES)
    assert data.feature_names == ("a", "b", "c") and data.class_names == ("no", "yes")
    assert np.array_equal(data.y, np.arange(ROWS) % 2)
    return True
