"""The readers of files, under one name for the YAML files: ``experiments.datasets.local_file.matlab`` and so on."""

from experiments.datasets.download.files import find
from experiments.datasets.readers.arff import arff, mulan
from experiments.datasets.readers.matlab import matlab
from experiments.datasets.readers.spreadsheet import r_data, spreadsheet
from experiments.datasets.readers.text import cluto, delimited, orange_tab

__all__ = [
    "arff",
    "cluto",
    "delimited",
    "find",
    "matlab",
    "mulan",
    "orange_tab",
    "r_data",
    "spreadsheet",
]
