"""Files of a data set: found, compared with their checksum, unpacked.

A reader gets the bytes of the file, and these are the bytes whose SHA-256 was compared: nothing can change in
between. Files in local folders are only ever read; none is deleted or moved.
"""

from __future__ import annotations

import bz2
import gzip
import hashlib
import lzma
import zlib
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Any

from experiments.datasets.download import cache
from experiments.errors import ConfigError, DatasetError, MissingFileError, wrong_name
from experiments.paths import Places

#: First bytes of a packed file, and what unpacks it; names may differ between a download and a local copy.
_PACKINGS = (
    (b"\x1f\x8b", "gzip", gzip.decompress),
    (b"BZh", "bzip2", bz2.decompress),
    (b"\xfd7zXZ\x00", "xz", lzma.decompress),
)

_FILE_KEYS = ("path", "sha256", "download")


@dataclass(frozen=True)
class Content:
    """A file's content.

    Attributes
    ----------
    name : str
        Where it was found, for messages.
    stored : bytes
        As it lies on disk.
    sha256 : str
        Of these bytes, hexadecimal.
    """

    name: str
    stored: bytes
    sha256: str

    @cached_property
    def data(self) -> bytes:
        """The content, unpacked when it is first asked for: a parsed copy needs the checksum alone.

        Raises
        ------
        DatasetError
            When a packed file is cut off or damaged.
        """
        return unpacked(self.stored, self.name)

    @property
    def text(self) -> str:
        """The content as text.

        Raises
        ------
        DatasetError
            When it is not UTF-8, with the line.
        """
        return decoded(self.data, self.name)


def reason_of(error: Exception, file: Content) -> str:
    """Say in one line why a package cannot read a file.

    Parameters
    ----------
    error : Exception
        What the package raised.
    file : Content
        The file.

    Returns
    -------
    str
    """
    if not file.data:
        return "the file is empty"
    return f"it is of another kind, or damaged; {type(error).__name__}: {error}".splitlines()[0]


def find(path: str, places: Places | Sequence[Path]) -> Path:
    """Find a file in the first folder that has it.

    Parameters
    ----------
    path : str
        Relative to the folders, or absolute.
    places : Places, or sequence of Path
        Folders, in the order they are tried.

    Returns
    -------
    Path

    Raises
    ------
    MissingFileError
        When no folder has it: every place looked at, and what to do.
    """
    candidates = list(dict.fromkeys(place / Path(path).expanduser() for place in places))
    for candidate in candidates:
        if candidate.is_file():
            return candidate
    for candidate in candidates:
        if path and candidate.is_dir():
            raise DatasetError(f"{candidate} is a folder; give the file in it that holds the data")
    looked_at = ", ".join(str(each) for each in candidates)
    raise MissingFileError(
        f"file {path} not found; looked at {looked_at}\n"
        "put it there, or name the folder that holds it: paths.local_data=FOLDER"
    )


def read_file(
    path: str,
    places: Places | Sequence[Path],
    sha256: str | None = None,
    download: Mapping[str, Any] | None = None,
) -> Content:
    """Read a file whole and compare its checksum; gzip, bzip2 and xz are unpacked.

    Parameters
    ----------
    path : str
        In the local folders, or absolute.
    places : Places, or sequence of Path
        Where to look: local folders, then the cache, then, if allowed, the address.
    sha256 : str, optional
        Expected SHA-256 of the local file as it lies on disk, hexadecimal; not compared if not given.
    download : mapping, optional
        Where the file can be had (``experiments.datasets.download.cache``), with a checksum of its own: what is
        downloaded is often the unpacked form of a packed local copy.

    Returns
    -------
    Content

    Raises
    ------
    DatasetError
        File missing, unreadable, of another checksum, or cut off.
    """
    try:
        file, origin = find(path, places), "local"
    except MissingFileError as error:
        if download is None or not isinstance(places, Places):
            raise
        file, origin = _obtained(path, places, download, error)
        sha256 = None  # compared by what obtained it
    try:
        content = file.read_bytes()
    except OSError as error:
        raise DatasetError(f"{file} cannot be read: {error.strerror or error}") from error
    found = hashlib.sha256(content).hexdigest()
    if sha256 is not None and found != sha256.lower():
        raise DatasetError(
            f"{file} ({len(content)} bytes) is cut off or changed: "
            f"expected SHA-256 {sha256.lower()}, found {found}\n"
            "replace it by a good copy, or name a folder that holds one: paths.local_data=FOLDER"
        )
    if isinstance(places, Places):
        places.used.append(origin)
    return Content(str(file), content, found)


def read_files(
    places: Places | Sequence[Path],
    path: str | None = None,
    files: Sequence[Mapping[str, Any]] | None = None,
    sha256: str | None = None,
    download: Mapping[str, Any] | None = None,
) -> list[Content]:
    """Read the one file of a source (``path``) or its several (``files``).

    Parameters
    ----------
    places, path, sha256, download
        As for :func:`read_file`.
    files : sequence of mapping
        Blocks with ``path``, ``sha256`` and ``download``, in place of the three above.

    Returns
    -------
    list of Content
        In the order given.

    Raises
    ------
    DatasetError
        As :func:`read_file`.
    ConfigError
        When neither or both are given, or a block has another key.
    """
    if (path is None) == (not files):
        raise ConfigError("a source needs either path or files")
    if path is not None:
        return [read_file(path, places, sha256, download)]
    for each in files or ():
        for key in each:
            if key not in _FILE_KEYS:
                raise wrong_name("key of a file", str(key), _FILE_KEYS)
        if "path" not in each:
            raise ConfigError("a file of dataset.source.files has no path")
    return [read_file(each["path"], places, each.get("sha256"), each.get("download")) for each in files or ()]


def unpacked(content: bytes, name: str) -> bytes:
    """Unpack what gzip, bzip2 or xz packed, told by the first bytes; leave anything else as it is.

    Raises
    ------
    DatasetError
        When it is cut off or damaged.
    """
    for start, packing, unpack in _PACKINGS:
        if content.startswith(start) or (not content and name.endswith(".gz")):
            try:
                return unpack(content)
            except (OSError, EOFError, ValueError, zlib.error, lzma.LZMAError) as error:
                raise DatasetError(f"{name} is no whole {packing} file: {error}") from error
    return content


def decoded(content: bytes, name: str) -> str:
    """Decode UTF-8.

    Raises
    ------
    DatasetError
        When it is something else, with the line.
    """
    try:
        return content.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        line = content.count(b"\n", 0, error.start) + 1
        raise DatasetError(
            f"{name}, line {line}: not UTF-8 text ({error.reason}); save it as UTF-8"
        ) from error


def _obtained(
    path: str, places: Places, download: Mapping[str, Any], missing: MissingFileError
) -> tuple[Path, str]:
    settings: dict[str, Any] = {
        "places": (),
        "download": dict(download),
        "sha256": None,
        "cache": places.cache,
    }
    try:
        return cache.obtain(path, **settings, allow_download=False), "cached"
    except MissingFileError as error:
        if not places.download:
            raise both(missing, error) from None
    try:
        return cache.obtain(path, **settings, allow_download=True), "downloaded"
    except MissingFileError as error:
        raise both(missing, error) from error


def both(missing: MissingFileError, error: MissingFileError) -> MissingFileError:
    """Make one error of two: where a file was looked for, why its address did not help, and where to put it.

    Parameters
    ----------
    missing : MissingFileError
        From :func:`find`.
    error : MissingFileError
        From :func:`experiments.datasets.download.cache.obtain`.

    Returns
    -------
    MissingFileError
        Of two lines.
    """
    first, _, advice = str(missing).partition("\n")
    return type(error)(f"{first}; {str(error).splitlines()[0]}\n{advice}")
