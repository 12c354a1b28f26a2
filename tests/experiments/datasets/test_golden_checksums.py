"""Checksums of data sets are what they were: keys of cells, and so 37 MB of published rows, hang on them."""

import hashlib
import json

import pytest
from folders import PROJECT_ROOT
from stated_datasets import LOCAL, NAMES, NEVER_SEEN, stated

from experiments.datasets import load
from experiments.datasets.loading import subsample
from experiments.paths import source_blocks

#: Name, with the place of the source if it is not the first → checksum, and digests of the names.
GOLDEN = json.loads((PROJECT_ROOT / "tests" / "data" / "golden_checksums.json").read_text())
#: What published rows state: name, number of rows, checksum.
PUBLISHED = GOLDEN.pop("published")
SEED = 0  # of every published study


def of_source(name, place):
    block = stated(name)
    block["source"] = source_blocks(block)[place]
    block.pop("sources", None)
    return block


def digest(names):
    return hashlib.sha256("\n".join(names).encode()).hexdigest()[:16]


def test_every_data_set_that_can_be_read_has_a_checksum():
    assert {key.split()[0] for key in GOLDEN} == set(NAMES) - (NEVER_SEEN & set(LOCAL))


@pytest.mark.parametrize("key", GOLDEN)
def test_checksum_and_names_are_what_they_were(key, local_data):
    name, _, place = key.partition(" ")
    data = load(of_source(name, int(place or 0)), local_data, download=False)
    found = {
        "checksum": data.checksum,
        "features": digest(data.feature_names),
        "classes": digest(data.class_names),
    }
    assert found == GOLDEN[key]


@pytest.mark.parametrize(("name", "n_rows", "checksum"), PUBLISHED)
def test_published_rows_are_of_data_that_are_what_they_were(name, n_rows, checksum, local_data):
    data = load(stated(name), local_data, download=False)
    assert subsample(data, n_rows, SEED).checksum == checksum
