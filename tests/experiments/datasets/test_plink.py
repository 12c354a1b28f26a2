"""Genotypes in PLINK's files, which are written here byte by byte as the format says."""

import sys

import numpy as np
import pytest
from written_tables import loaded

from experiments.datasets.plink import _place
from experiments.errors import ConfigError, DatasetError, MissingFileError

#: Copies of the first allele → two bits; the first individual has the lowest bits of a byte.
CODES = {2: 0b00, None: 0b01, 1: 0b10, 0: 0b11}


def bed(genotypes):
    """Bytes of a .bed file, variant after variant, from rows of individuals."""
    out = bytearray(b"\x6c\x1b\x01")
    for variant in zip(*genotypes, strict=True):
        for start in range(0, len(variant), 4):
            four = variant[start : start + 4]
            out.append(sum(CODES[value] << 2 * place for place, value in enumerate(four)))
    return bytes(out)


def table(rng, n=11, p=7):
    return [[int(value) for value in row] for row in rng.integers(0, 3, size=(n, p))]


def write(folder, genotypes, phenotypes, names=None, stem="t"):
    p = len(genotypes[0])
    names = [f"rs{place}" for place in range(p)] if names is None else names
    (folder / f"{stem}.bed").write_bytes(bed(genotypes))
    bim = [f"1\t{name}\t0\t{100 + place}\tA\tG" for place, name in enumerate(names)]
    (folder / f"{stem}.bim").write_text("\n".join(bim) + "\n")
    fam = [f"F{row} I{row} 0 0 1 {phenotype}" for row, phenotype in enumerate(phenotypes)]
    (folder / f"{stem}.fam").write_text("\n".join(fam) + "\n")


@pytest.fixture
def here(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    return tmp_path


@pytest.mark.parametrize("path", ["t.bed", "t"])
def test_genotypes_and_classes(path, here, rng):
    genotypes, phenotypes = table(rng), [1, 2] * 5 + [1]
    write(here, genotypes, phenotypes)
    data = loaded("dataset=plink", f"dataset.path={path}")
    np.testing.assert_array_equal(data.X, genotypes)
    assert data.X.dtype == np.int8
    assert data.y.tolist() == [each - 1 for each in phenotypes]
    assert data.class_names == ("control", "case")
    assert data.feature_names == tuple(f"rs{place}" for place in range(7))


def test_cases_that_are_one(here, rng):
    write(here, table(rng), [0, 1] * 5 + [1])
    with pytest.raises(DatasetError, match=r"t\.fam: line 1 has no phenotype \(0\), 5 of 11 .*zero_one=true"):
        loaded("dataset=plink", "dataset.path=t.bed")
    data = loaded("dataset=plink", "dataset.path=t.bed", "dataset.zero_one=true")
    assert data.y.tolist() == [0, 1] * 5 + [1] and data.class_names == ("control", "case")


def test_missing_genotypes(here, rng):
    genotypes = table(rng)
    genotypes[2][3] = genotypes[9][3] = None
    write(here, genotypes, [1, 2] * 5 + [1])
    with pytest.raises(DatasetError, match=r"t\.fam: line 3 \(individual 'I2'\), column 'rs3' is missing"):
        loaded("dataset=plink", "dataset.path=t.bed")
    data = loaded("dataset=plink", "dataset.path=t.bed", "dataset.missing=drop_rows")
    np.testing.assert_array_equal(data.X, [row for row in genotypes if None not in row])
    data = loaded("dataset=plink", "dataset.path=t.bed", "dataset.missing=most_frequent")
    known = [row[3] for row in genotypes if row[3] is not None]
    assert data.X[2, 3] == data.X[9, 3] == min(range(3), key=lambda value: (-known.count(value), value))


def test_variants_are_left_out_and_named(here, rng):
    names = ["rs1", "rs1", ".", ".", "rs2", "rs3", "rs4"]
    genotypes = table(rng)
    write(here, genotypes, [1, 2] * 5 + [1], names)
    data = loaded("dataset=plink", "dataset.path=t.bed", "dataset.leave_out=[rs3,-1]")
    assert data.feature_names == ("1:100:A:G", "1:101:A:G", "1:102:A:G", "1:103:A:G", "rs2")
    np.testing.assert_array_equal(data.X, [row[:5] for row in genotypes])
    with pytest.raises(DatasetError, match=r"no variant 'rs5' to leave out; did you mean rs"):
        _place("rs5", ["rs1", "rs50"], "t.bim")


def test_many_variants_at_a_time(here, rng, monkeypatch):
    from experiments.datasets import plink

    monkeypatch.setattr(plink, "_AT_ONCE", 30)
    genotypes = table(rng, 9, 40)
    write(here, genotypes, [1, 2] * 4 + [1])
    np.testing.assert_array_equal(loaded("dataset=plink", "dataset.path=t.bed").X, genotypes)


@pytest.mark.parametrize(
    ("damage", "message"),
    [
        (lambda data: data[:-1], "has 23 bytes, but 11 individuals .* and 7 variants .* take 24"),
        (lambda data: data + b"\0", "has 25 bytes"),
        (lambda data: b"\x6c\x1c" + data[2:], "is no PLINK .bed file"),
        (lambda data: data[:2], "is no PLINK .bed file"),
        (lambda data: data[:2] + b"\0" + data[3:], "one individual after the other"),
    ],
)
def test_damaged_files(damage, message, here, rng):
    write(here, table(rng), [1, 2] * 5 + [1])
    path = here / "t.bed"
    path.write_bytes(damage(path.read_bytes()))
    with pytest.raises(DatasetError, match=message):
        loaded("dataset=plink", "dataset.path=t.bed")


@pytest.mark.parametrize(
    ("phenotype", "message"), [("-9", "line 2 has no phenotype"), ("1.7", "line 2 has the phenotype 1.7")]
)
def test_phenotypes_that_are_no_classes(phenotype, message, here, rng):
    write(here, table(rng), [1, phenotype, 2] + [1, 2] * 4)
    with pytest.raises(DatasetError, match=message):
        loaded("dataset=plink", "dataset.path=t.bed")


def test_files_that_are_not_there_or_uneven(here, rng):
    with pytest.raises(ConfigError, match=r"dataset=plink does not say dataset\.path"):
        loaded("dataset=plink")
    with pytest.raises(MissingFileError, match=r"t\.bed not found"):
        loaded("dataset=plink", "dataset.path=t.bed")
    write(here, table(rng), [1, 2] * 5 + [1])
    (here / "t.bim").write_text("1 rs1 0 5 A\n")
    with pytest.raises(DatasetError, match=r"t\.bim: line 1 has 5 columns instead of 6"):
        loaded("dataset=plink", "dataset.path=t.bed")


def test_without_the_reader(here, rng, monkeypatch):
    write(here, table(rng), [1, 2] * 5 + [1])
    monkeypatch.setitem(sys.modules, "bed_reader", None)
    with pytest.raises(
        ConfigError, match=r"needs the package bed-reader: pip install 'reliefe-bench\[plink\]'"
    ):
        loaded("dataset=plink", "dataset.path=t.bed")
