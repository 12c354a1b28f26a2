"""The readers of files, under one name for the YAML files: ``experiments.datasets.local_file.matlab`` and so on."""

from experiments.datasets.arff import arff, mulan
from experiments.datasets.files import find, read_checked
from experiments.datasets.matlab import matlab
from experiments.datasets.sheets import r_data, spreadsheet
from experiments.datasets.text import cluto, delimited, orange_tab

__all__ = [
    "arff",
    "cluto",
    "delimited",
    "find",
    "matlab",
    "mulan",
    "orange_tab",
    "r_data",
    "read_checked",
    "spreadsheet",
]
