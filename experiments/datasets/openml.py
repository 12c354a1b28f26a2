"""Data sets of OpenML by number or name: described by the package openml, downloaded and compared by ourselves.

Of a file that was cut off in its cache, the package (0.15.1) gave 1,075 of 2,000 rows without an error. So the
file is downloaded here, and its MD5 compared with the one that OpenML states each time before it is read.
"""

from __future__ import annotations

import os
from collections.abc import Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

from experiments.datasets.download import OFFLINE, find, printable
from experiments.datasets.names import Column, listed
from experiments.datasets.raw import RawData
from experiments.datasets.readers import arff
from experiments.errors import ConfigError, DatasetError, DownloadError, MissingFileError
from experiments.paths import Places, default_cache

SERVER = "https://www.openml.org"


def openml(
    data_id: int | None = None,
    *,
    places: Places,
    name: str | None = None,
    version: int | None = None,
    path: str | None = None,
    sha256: str | None = None,
    md5: str | None = None,
    target: Column | Sequence[Column] | None = None,
    leave_out: Column | Sequence[Column] = (),
    first_rows: int | None = None,
    class_names: Mapping[str, str] | None = None,
    server: str = SERVER,
) -> RawData:
    """Read a data set of OpenML; a local file at ``path`` goes first, and then OpenML is not asked."""
    if (data_id is None) == (name is None):
        raise ConfigError("a data set of OpenML needs either dataset.data_id or dataset.name")
    path = path or f"openml/{name if data_id is None else data_id}.arff"
    file: dict[str, Any] = {"path": path, "sha256": sha256}
    try:
        find(path, places)
    except MissingFileError as missing:
        about = _description(data_id, name, version, server.rstrip("/"), places, missing)
        stated = (about.md5_checksum or md5 or "").lower()
        if md5 is not None and stated != md5.lower():
            raise DatasetError(
                f"OpenML's file of data set {about.dataset_id} ({about.name}) has changed: expected MD5 {md5}, "
                f"OpenML states {stated}"
            ) from None
        file["download"] = {"url": about.url, "md5": stated or None}
        target = about.default_target_attribute if target is None else target
        leave_out = [*listed(leave_out), *_names(about.row_id_attribute), *_names(about.ignore_attribute)]
        leave_out = [each for each in dict.fromkeys(leave_out) if each not in listed(target)]
    if target is None:
        raise ConfigError(f"{path}: OpenML states no class attribute; name one: dataset.target=NAME")
    if isinstance(target, str) and "," in target:
        target = _names(target)
    several = {"labels": list(target)} if isinstance(target, list | tuple) else {"target": target}
    raw = arff.arff(places=places, files=[file], leave_out=leave_out, class_names=class_names, **several)
    if first_rows is None:
        return raw
    if not 1 <= first_rows <= raw.X.shape[0]:
        raise DatasetError(f"{path} has {raw.X.shape[0]} rows, not {first_rows}")
    return replace(raw, X=raw.X[:first_rows], labels=raw.labels[:first_rows])


def _description(
    data_id: int | None,
    name: str | None,
    version: int | None,
    server: str,
    places: Places,
    missing: Exception,
) -> Any:
    cache = (places.cache or default_cache()).expanduser() / "openml"
    os.environ.setdefault("OPENML_CACHE_DIR", str(cache))  # else the import makes a folder in the user's home
    import openml as package

    package.config.server = f"{server}/api/v1/xml"
    package.config.set_root_cache_directory(str(cache))
    package.config.set_retry_policy("human", 3)
    folder = Path(package.config.get_cache_directory()) / "datasets"
    allowed = places.download and not os.environ.get(OFFLINE)
    what = f"data set {name if data_id is None else data_id} of OpenML"
    try:
        if data_id is None and allowed:
            found = package.datasets.list_datasets(data_name=name, output_format="dataframe")
            found = found.astype({"did": int, "version": int}).sort_values("version") if len(found) else found
            known = found if version is None or found.empty else found[found["version"] == version]
            data_id = int(known["did"].iloc[0]) if len(known) else None
            if data_id is None:
                raise DatasetError(f"{what}: {server} lists no active data set of that name and version")
        elif data_id is None:
            for each in _cached(folder):
                about = package.datasets.get_dataset(int(each.parent.name))
                if about.name == name and version in (None, about.version):
                    data_id = about.dataset_id
                    break
        if not allowed and (data_id is None or not (folder / str(data_id) / "description.xml").is_file()):
            raise MissingFileError(f"{str(missing).splitlines()[0]}; {what} is not in the cache {cache}")
        # Without a download, the description in the cache and its file are used or nothing is.
        assert data_id is not None
        about = package.datasets.get_dataset(data_id, force_refresh_cache=allowed)
    except (DatasetError, ConfigError):
        raise
    except Exception as error:  # the package raises many kinds, those of requests too
        first, _, advice = str(missing).partition("\n")
        told = f"{what} cannot be had from {server}: {printable(error)}"
        raise DownloadError(f"{first}; {told}\n{advice}") from error
    if version is not None and about.version != version:
        raise DatasetError(f"{what} ({about.name}) is version {about.version}, not {version}")
    if str(about.format).lower() not in ("arff", "sparse_arff"):
        raise DatasetError(f"{what} ({about.name}) is a file of the kind {about.format}, not ARFF")
    return about


def _cached(folder: Path) -> list[Path]:
    """Return the descriptions in the cache, the oldest data sets first."""
    return sorted(folder.glob("*/description.xml"), key=lambda each: int(each.parent.name))


def _names(value: Any) -> list[str]:
    """Read a list of attributes: a list, or text with commas between the names."""
    parts = value if isinstance(value, list | tuple) else str(value or "").split(",")
    return [text for each in parts if (text := str(each).strip().strip("'\""))]
