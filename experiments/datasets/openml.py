"""Data sets of OpenML, by number or by name, as the ARFF files that were uploaded there.

OpenML is asked through its REST interface (version 1, JSON), and everything it sends goes through
:mod:`experiments.datasets.download.cache`. Its Python client, the package openml (0.15.1), is not used, for
what it was seen to do: of a file that had been cut off in its cache it gave 1,075 of 2,000 rows without an
error; a server that accepts a connection and says nothing is waited for without a limit (it has no timeouts);
and its import makes folders in the user's home.
"""

from __future__ import annotations

import json
import logging
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any
from urllib.parse import quote

from experiments.datasets.download import cache
from experiments.datasets.download.files import both, find
from experiments.datasets.names import Column, listed
from experiments.datasets.raw import RawData
from experiments.datasets.readers import arff
from experiments.errors import ConfigError, DatasetError, DownloadError, MissingFileError
from experiments.paths import Places

logger = logging.getLogger(__name__)

SERVER = "https://www.openml.org"


@dataclass(frozen=True)
class Description:
    """What OpenML says of a data set.

    Attributes
    ----------
    data_id, version : int
        Its number, and which upload under its name it is.
    name : str
        Its name.
    url : str
        Of the ARFF file.
    md5 : str or None
        Of that file, hexadecimal.
    target : str or None
        The class attribute.
    ignored : tuple of str
        Attributes that are no features: row identifiers, and those marked to be ignored.
    status : str
        "active" unless something was found to be wrong with it.
    """

    data_id: int
    version: int
    name: str
    url: str
    md5: str | None
    target: str | None
    ignored: tuple[str, ...]
    status: str


def openml(
    data_id: int | None = None,
    *,
    places: Places | Sequence[Path],
    name: str | None = None,
    version: int | None = None,
    path: str | None = None,
    sha256: str | None = None,
    md5: str | None = None,
    target: Column | None = None,
    labels: Sequence[Column] | None = None,
    leave_out: Column | Sequence[Column] = (),
    first_rows: int | None = None,
    class_names: Mapping[str, str] | None = None,
    server: str = SERVER,
) -> RawData:
    """Read a data set of OpenML.

    Parameters
    ----------
    data_id : int, optional
        Its number.
    places : Places, or sequence of Path
        Where to look: local folders, then the cache, then, if allowed, OpenML.
    name : str, optional
        Its name, in place of the number; if several data sets have it, the oldest active one.
    version : int, optional
        The version expected; with a name, the one taken.
    path : str, optional
        Of the ARFF file in a local folder, plain or packed; ``openml/NUMBER.arff`` or ``openml/NAME.arff`` if not
        given. With it, OpenML is not asked.
    sha256 : str, optional
        Expected SHA-256 of the local file, hexadecimal.
    md5 : str, optional
        Expected MD5 of OpenML's file, hexadecimal; in any case it must be the one that OpenML states.
    target : str or int, optional
        The class attribute; the one that OpenML states if neither it nor ``labels`` is given.
    labels : sequence of str or int, optional
        For multi-label data: the label attributes.
    leave_out : str, int, or sequence of them
        Attributes that are no features, besides those that OpenML states.
    first_rows : int, optional
        Take so many rows from the top, and not all.
    class_names : mapping, optional
        Readable names for the classes.
    server : str
        Address of OpenML.

    Returns
    -------
    RawData
        Sparse if the file is.

    Raises
    ------
    MissingFileError
        Neither local nor in the cache, and no download is allowed, or it failed.
    DatasetError
        OpenML has another version or another file than expected, or no such data set; a damaged file.
    ConfigError
        When neither or both of ``data_id`` and ``name`` are given.
    """
    if (data_id is None) == (name is None):
        raise ConfigError("a data set of OpenML needs either data_id or name")
    path = path or f"openml/{name if data_id is None else data_id}.arff"
    file: dict[str, Any] = {"path": path}
    if sha256:
        file["sha256"] = sha256
    try:
        find(path, places)
    except MissingFileError as missing:
        about = _ask(server.rstrip("/"), data_id, name, version, path, places, missing)
        if md5 is not None and about.md5 is not None and about.md5 != md5.lower():
            raise DatasetError(
                f"OpenML's file of data set {about.data_id} ({about.name}) is another than expected: "
                f"expected MD5 {md5.lower()}, OpenML states {about.md5}"
            ) from None
        file["download"] = {"url": about.url, "md5": md5 or about.md5}
        target = about.target if target is None and labels is None else target
        leave_out = list(dict.fromkeys([*listed(leave_out), *about.ignored]))
    if target is None and labels is None:
        raise ConfigError(f"which attribute of {path} is the class? State target")
    raw = arff.arff(
        places=places,
        files=[file],
        target=target,
        labels=labels,
        leave_out=leave_out,
        class_names=class_names,
    )
    if first_rows is None:
        return raw
    if not 1 <= first_rows <= raw.X.shape[0]:
        raise DatasetError(f"{path} has {raw.X.shape[0]} rows, not {first_rows}")
    return replace(raw, X=raw.X[:first_rows], labels=raw.labels[:first_rows])


def _ask(
    server: str,
    data_id: int | None,
    name: str | None,
    version: int | None,
    path: str,
    places: Places | Sequence[Path],
    missing: MissingFileError,
) -> Description:
    """Get the description of a data set: the one in the cache if the file it describes is there too, else anew."""
    if not isinstance(places, Places):
        raise missing
    cached = replace(places, download=False)
    try:
        try:
            about = _described(server, data_id, name, version, cached)
            block = {"url": about.url, "md5": about.md5}
            cache.obtain(path, download=block, cache=places.cache, allow_download=False)
        except MissingFileError:
            if not places.download:
                raise
            about = _described(server, data_id, name, version, places)
    except MissingFileError as error:
        raise both(missing, error) from error
    if about.status != "active":
        logger.warning("data set %s of OpenML (%s) is %s", about.data_id, about.name, about.status)
    if version is not None and about.version != version:
        raise DatasetError(
            f"data set {about.data_id} of OpenML ({about.name}) is version {about.version}, not {version}"
        )
    return about


def _described(
    server: str, data_id: int | None, name: str | None, version: int | None, places: Places
) -> Description:
    if data_id is None:
        which = "status/active" if version is None else f"data_version/{version}"
        url = f"{server}/api/v1/json/data/list/data_name/{quote(str(name), safe='')}/limit/100/{which}"
        data_id = _answer(url, places, lambda answer: _number(answer, str(name)))
    return _answer(f"{server}/api/v1/json/data/{data_id}", places, _description)


def _answer(url: str, places: Places, read: Callable[[Any], Any]) -> Any:
    """Ask OpenML, or the cache, and return what can be read out of the answer; keep no other answer."""

    def read_file(file: Path) -> Any:
        try:
            return read(json.loads(file.read_bytes()))
        except (LookupError, TypeError, ValueError, AttributeError) as error:
            raise DownloadError(f"{url}: OpenML's answer cannot be read ({error!r})") from error

    def check(file: Path) -> str:
        try:
            read_file(file)
        except DownloadError as error:
            return str(error).removeprefix(f"{url}: ")
        return ""

    download = {"url": url, "changes": True}
    allowed = places.download
    return read_file(
        cache.obtain(
            url, download=download, cache=places.cache, allow_download=allowed, fresh=allowed, check=check
        )
    )


def _number(answer: Any, name: str) -> int:
    """Find the oldest version of a data set in a list."""
    found = [
        (int(each["version"]), int(each["did"])) for each in answer["data"]["dataset"] if each["name"] == name
    ]
    if not found:
        raise LookupError(f"no data set named {name}")
    return min(found)[1]


def _description(answer: Any) -> Description:
    block = answer["data_set_description"]
    target = _names(block.get("default_target_attribute"))
    about = Description(
        int(block["id"]),
        int(block.get("version", 1)),
        str(block["name"]),
        str(block["url"]),
        str(block["md5_checksum"]).lower() if block.get("md5_checksum") else None,
        target[0] if target else None,
        (*_names(block.get("row_id_attribute")), *_names(block.get("ignore_attribute"))),
        str(block.get("status", "active")),
    )
    kind = str(block.get("format", "ARFF")).lower()
    if kind not in ("arff", "sparse_arff"):
        raise DatasetError(f"data set {about.data_id} of OpenML ({about.name}) is no ARFF file but {kind}")
    return about


def _names(value: Any) -> list[str]:
    """Read a list of attributes: a list, or text with commas between the names."""
    if value is None or value == []:
        return []
    parts = value if isinstance(value, list) else str(value).split(",")
    return [str(each).strip().strip("'\"") for each in parts]
