"""Data sets: one module per kind of source, one YAML file per data set."""

from experiments.datasets.loading import Dataset, load, nonzero_share
from experiments.datasets.raw import RawData
from experiments.errors import DatasetError

__all__ = ["Dataset", "DatasetError", "RawData", "load", "nonzero_share"]
