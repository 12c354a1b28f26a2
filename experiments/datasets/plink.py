"""Genotypes in PLINK's binary files: ``my.bed`` with the variants in ``my.bim`` and the individuals in ``my.fam``.

The reader of the genotypes is the package bed-reader, which comes with the extra ``plink``.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from pathlib import Path

import numpy as np

from experiments.datasets.download import find, read_file
from experiments.datasets.own import needed, with_here
from experiments.datasets.raw import RawData
from experiments.datasets.readers.frame import Column, listed
from experiments.errors import ConfigError, DatasetError, meant
from experiments.paths import Places

_MAGIC = b"\x6c\x1b"
_BY_VARIANT = 1
_MISSING = -127  # bed-reader's, in int8
_AT_ONCE = 2**24  # genotypes


def plink(
    path: str | None = None,
    *,
    places: Places | Sequence[Path],
    zero_one: bool = False,
    leave_out: Column | Sequence[Column] = (),
) -> RawData:
    """Read genotypes and the phenotype of a case-control study."""
    needed("plink", path=path)
    assert path is not None
    places = with_here(places)
    stem = path.removesuffix(".bed")
    bed = find(f"{stem}.bed", places)
    variants, people = (_table(f"{stem}.{kind}", places) for kind in ("bim", "fam"))
    _check_size(bed, len(people), len(variants))
    names = _variant_names(variants)
    gone = {_place(each, names, f"{stem}.bim") for each in listed(leave_out)}
    kept = np.array([place for place in range(len(names)) if place not in gone], dtype=np.int64)
    return RawData(
        _genotypes(bed, len(people), len(variants), kept),
        _phenotypes(people, f"{stem}.fam", zero_one),
        [names[place] for place in kept],
        {"0": "control", "1": "case"} if zero_one else {"1": "control", "2": "case"},
        place_of=lambda row: f"{stem}.fam: line {row + 1} (individual {people[row][1]!r})",
    )


def _table(path: str, places: Places) -> list[list[str]]:
    """Read a file of six columns between white space, a line each."""
    file = read_file(path, places)
    rows = [line.split() for line in file.text.splitlines() if line.strip()]
    if not rows:
        raise DatasetError(f"{file.name} is empty")
    for number, row in enumerate(rows, start=1):
        if len(row) != 6:
            raise DatasetError(f"{file.name}: line {number} has {len(row)} columns instead of 6")
    return rows


def _check_size(bed: Path, n: int, p: int) -> None:
    """Say what is wrong with a file of another size or kind, before it is read as if it were right."""
    with bed.open("rb") as stream:
        head = stream.read(3)
    if head[:2] != _MAGIC or len(head) < 3:
        raise DatasetError(f"{bed} is no PLINK .bed file: it does not begin with the bytes 6c 1b")
    if head[2] != _BY_VARIANT:
        raise DatasetError(
            f"{bed} holds one individual after the other; make a file by variants of it: plink --make-bed"
        )
    found, expected = bed.stat().st_size, 3 + p * -(-n // 4)
    if found != expected:
        raise DatasetError(
            f"{bed} has {found} bytes, but {n} individuals (.fam) and {p} variants (.bim) take {expected}: it is "
            "cut off, or the three files do not belong together"
        )


def _variant_names(variants: list[list[str]]) -> list[str]:
    """Name variants as the file does, or by chromosome, place and alleles where it does not tell them apart."""
    times = Counter(row[1] for row in variants)
    names = [
        row[1] if row[1] != "." and times[row[1]] == 1 else ":".join(row[0:1] + row[3:6]) for row in variants
    ]
    name, number = Counter(names).most_common(1)[0]
    if number > 1:
        raise DatasetError(
            f"{number} variants of the .bim file are called {name!r}; give them names of their own"
        )
    return names


def _place(column: Column, names: list[str], file: str) -> int:
    if str(column) in names:
        return names.index(str(column))
    if isinstance(column, int) and -len(names) <= column < len(names):
        return column % len(names)
    hint = meant(str(column), names)
    raise DatasetError(f"{file}: no variant {column!r} to leave out{hint}")


def _phenotypes(people: list[list[str]], file: str, zero_one: bool) -> np.ndarray:
    texts = [row[5] for row in people]
    control, case = ("0", "1") if zero_one else ("1", "2")
    missing = {"-9"} if zero_one else {"-9", "0"}
    for number, text in enumerate(texts, start=1):
        if text in (control, case):
            continue
        if text in missing:
            n_missing = sum(each in missing for each in texts)
            raise DatasetError(
                f"{file}: line {number} has no phenotype ({text}), {n_missing} of {len(texts)} individuals have "
                "none; leave them out (plink --filter-cases --filter-controls, or --prune)"
                + ("" if zero_one else "; if 0 is a control and 1 a case: dataset.zero_one=true")
            )
        raise DatasetError(
            f"{file}: line {number} has the phenotype {text}, which is neither a control ({control}) nor a case "
            f"({case}); the benchmark takes classes"
        )
    return np.array([int(text) for text in texts])


def _genotypes(bed: Path, n: int, p: int, kept: np.ndarray) -> np.ndarray:
    try:
        from bed_reader import open_bed
    except ImportError:
        raise ConfigError(
            "dataset=plink needs the package bed-reader: pip install 'reliefe-bench[plink]'"
        ) from None
    X = np.empty((n, kept.shape[0]), dtype=np.int8)
    # As many variants at a time as are turned in the cache, not the whole matrix twice.
    step = max(1, _AT_ONCE // n)
    with open_bed(bed, iid_count=n, sid_count=p, skip_format_check=True, num_threads=1) as reader:
        for start in range(0, kept.shape[0], step):
            part = kept[start : start + step]
            X[:, start : start + step] = reader.read(index=part, dtype="int8", order="F", num_threads=1)
    missing = X == _MISSING
    if not missing.any():
        return X
    X = X.astype(np.float32)
    X[missing] = np.nan
    return X
