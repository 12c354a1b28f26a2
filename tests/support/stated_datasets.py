"""The project's own data sets as their YAML files state them, and the paper's tables."""

import numpy as np
import yaml
from scipy import sparse

from experiments.config.compose import PROJECT_ROOT, names
from experiments.paths import source_blocks

CONF = PROJECT_ROOT / "conf" / "dataset"


def stated(name):
    return yaml.safe_load((CONF / f"{name}.yaml").read_text())


#: All but those that stand for a user's own file, whose path is to be typed.
NAMES = [
    name
    for name in names(CONF.parent, "dataset")
    if not any(each.get("path", "") is None for each in source_blocks(stated(name)))
]
#: Read from no file of their own: they come with a package, or are made on the spot.
BUNDLED = [
    name
    for name in NAMES
    if source_blocks(stated(name))[0]["_target_"].split(".")[-2] in ("bundled", "synthetic")
]
LOCAL = [name for name in NAMES if name not in BUNDLED]


def well_formed(data):
    X = data.X
    n, p = X.shape
    assert X.dtype == np.float64
    assert sparse.issparse(X) or X.flags.c_contiguous
    if data.task == "multilabel":
        assert data.y.shape == (n, len(data.class_names)) and data.y.dtype == np.int8
        assert data.y.format == "csr" and data.y.has_canonical_format and (data.y.data == 1).all()
        assert len(set(data.class_names)) == len(data.class_names)
    elif data.task == "regression":
        assert data.y.shape == (n,) and data.y.dtype == np.float64 and data.class_names == ()
        assert np.isfinite(data.y).all() and len(np.unique(data.y)) > 1
    else:
        assert data.y.shape == (n,) and data.y.dtype == np.int64
        assert np.array_equal(np.unique(data.y), np.arange(len(data.class_names)))
    assert len(data.feature_names) == len(set(data.feature_names)) == p
    assert len(data.checksum) == 64


QUANTITIES = ("rows", "features", "classes", "nonzero_share")
#: The paper's tables of data sets: rows, features, classes or labels, share of non-zeros.
MULTI_CLASS = {
    "chess": (3196, 38, 2, 0.726558),
    "biodeg_p2_discrete": (328, 61, 4, 0.107357),
    "optdigits": (5620, 62, 10, 0.528117),
    "madelon": (2000, 500, 2, 0.999999),
    "har": (10299, 561, 6, 0.999860),
    "pd_speech_features": (756, 753, 2, 0.995294),
    "dlbcl": (77, 7070, 2, 0.997388),
    "tumors_c": (60, 7129, 2, 0.995722),
    "ap_ovary_kidney": (458, 10935, 2, 1.0),
    "ohscal": (11162, 11465, 10, 0.005270),
    "genes": (801, 20531, 5, 0.857824),
}
MULTI_LABEL = {
    "delicious": (16105, 1000, 983, 0.5),
    "imdb": (120919, 1001, 28, 0.019363),
    "medical": (978, 2898, 45, 0.5),
    "bibtex": (7395, 3672, 159, 0.5),
    "education1": (12030, 27534, 33, 0.004059),
    "health1": (9205, 30605, 32, 0.003555),
    "entertainment1": (12730, 32001, 21, 0.004552),
    "science1": (6428, 37187, 40, 0.004659),
    "social1": (12111, 52350, 39, 0.002949),
}
PAPER = MULTI_CLASS | MULTI_LABEL
#: Of these no copy was at hand when their YAML files were written.
NEVER_SEEN = {"biodeg_p2_discrete", "har", "pd_speech_features", "ap_ovary_kidney", "ohscal", "genes", "p53"}
NEVER_SEEN |= {"education1", "health1", "entertainment1", "social1"}
