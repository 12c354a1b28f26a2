"""Data sets: from the YAML file of each to samples, targets and names."""

from experiments.datasets.loading import Dataset, load, nonzero_share
from experiments.datasets.raw import RawData
from experiments.errors import DatasetError

__all__ = ["Dataset", "DatasetError", "RawData", "load", "nonzero_share"]
