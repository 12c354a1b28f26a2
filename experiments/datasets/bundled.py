"""Data sets that come with scikit-learn: no file, no network."""

from __future__ import annotations

from sklearn import datasets as sklearn_datasets

from experiments.datasets.raw import RawData
from experiments.errors import wrong_name

_LOADERS = {
    "breast_cancer": sklearn_datasets.load_breast_cancer,
    "diabetes": sklearn_datasets.load_diabetes,
    "digits": sklearn_datasets.load_digits,
    "iris": sklearn_datasets.load_iris,
    "wine": sklearn_datasets.load_wine,
}


def scikit_learn(name: str) -> RawData:
    """Load one of scikit-learn's own data sets."""
    if name not in _LOADERS:
        raise wrong_name("data set of scikit-learn", str(name), sorted(_LOADERS))
    bunch = _LOADERS[name]()
    class_names = {str(code): str(label) for code, label in enumerate(bunch.get("target_names", ()))}
    return RawData(bunch.data, bunch.target, [str(each) for each in bunch.feature_names], class_names)
