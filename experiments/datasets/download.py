"""Files of data sets: from a local folder, else from the cache, else downloaded by pooch; compared and unpacked.

A reader gets the bytes whose checksum was compared. Local folders are only read.
"""

from __future__ import annotations

import bz2
import gzip
import hashlib
import io
import logging
import lzma
import os
import tarfile
import time
import zipfile
import zlib
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import IO, Any

import psutil

from experiments.errors import ConfigError, DatasetError, DownloadError, MissingFileError, wrong_name
from experiments.paths import Places, default_cache, file_stem

logger = logging.getLogger(__name__)

#: Environment variable that forbids downloads when it is set to anything.
OFFLINE = "RELIEFE_OFFLINE"

#: Tries of a download, seconds before the second one (twice as many before each next), seconds without an answer.
TRIES, WAIT, TIMEOUT = 3, 1.0, 60.0

#: The most bytes of a download whose checksum is not known.
MOST_BYTES = 2**32

#: A file may take so much of the free memory when it is unpacked; parsing takes about twice that again.
MEMORY_SHARE = 0.3

_PACKINGS: tuple[tuple[bytes, str, Any], ...] = (
    (b"\x1f\x8b", "gzip", gzip.open),
    (b"BZh", "bzip2", bz2.open),
    (b"\xfd7zXZ\x00", "xz", lzma.open),
)
_DAMAGE: tuple[type[Exception], ...] = (
    OSError,
    EOFError,
    ValueError,
    RuntimeError,
    zlib.error,
    lzma.LZMAError,
)
_DAMAGE += (zipfile.BadZipFile, tarfile.TarError)

_FILE_KEYS = ("path", "sha256", "download")
_DOWNLOAD_KEYS = {"url": 0, "sha256": 64, "md5": 32, "member": 0}


@dataclass(frozen=True)
class Content:
    """A file's content: where it was found, its bytes as they are stored, and their SHA-256."""

    name: str
    stored: bytes
    sha256: str

    @cached_property
    def data(self) -> bytes:
        """The content, unpacked."""
        return unpacked(self.stored, self.name)

    @property
    def text(self) -> str:
        """The content as text in UTF-8."""
        return decoded(self.data, self.name)


def printable(error: object) -> str:
    """Return one line of at most 200 characters for a terminal; a server may send anything."""
    try:
        text = " ".join(str(error).split())
    except Exception:  # a broken __str__ must not hide the cause
        text = type(error).__name__
    return "".join(each if each.isprintable() else "?" for each in text)[:200]


def reason_of(error: Exception, file: Content) -> str:
    """Return in one line why a package cannot read a file."""
    if not file.data:
        return "the file is empty"
    return f"it is of another kind, or damaged; {type(error).__name__}: {printable(error)}"


def find(path: str, places: Places | Sequence[Path]) -> Path:
    """Find a file in the first folder that has it; the error names every place that was looked at."""
    candidates = list(dict.fromkeys(place / Path(path).expanduser() for place in places))
    for candidate in candidates:
        if candidate.is_file():
            return candidate
    looked_at = ", ".join(str(each) for each in candidates)
    odd = next((each for each in candidates if path and each.exists()), None)
    if odd is not None:
        kind = "a folder; give the file in it" if odd.is_dir() else "not a regular file; give the file"
        raise MissingFileError(f"{odd} is {kind} that holds the data")
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
    """Read a file whole and compare its checksum; ``sha256`` is that of the local file, not of the download."""
    try:
        file = find(path, places)
    except MissingFileError as missing:
        if download is None or not isinstance(places, Places):
            raise
        try:
            return obtain(download, places)
        except MissingFileError as error:
            first, _, advice = str(missing).partition("\n")
            raise type(error)(f"{first}; {str(error).splitlines()[0]}\n{advice}".rstrip()) from error
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
        places.used.append("local")
    return Content(str(file), content, found)


def read_files(
    places: Places | Sequence[Path],
    path: str | None = None,
    files: Sequence[Mapping[str, Any]] | None = None,
    sha256: str | None = None,
    download: Mapping[str, Any] | None = None,
) -> list[Content]:
    """Read the one file of a source (``path``), or its several (``files``: blocks of the keys of one file)."""
    if (path is None) == (not files):
        raise ConfigError("a source needs either path or files")
    if path is not None:
        return [read_file(path, places, sha256, download)]
    for block in files or ():
        for key in block:
            if key not in _FILE_KEYS:
                raise wrong_name("key of a file", str(key), _FILE_KEYS)
        if "path" not in block:
            raise ConfigError("a file of dataset.source.files has no path")
    return [read_file(each["path"], places, each.get("sha256"), each.get("download")) for each in files or ()]


def obtain(download: Mapping[str, Any], places: Places) -> Content:
    """Return a file from the cache, or download it; ``member`` is taken out of its archive, nested ones too."""
    _check_keys(download)
    url = str(download["url"])
    known = next((f"{key}:{download[key].lower()}" for key in ("sha256", "md5") if download.get(key)), None)
    folder = (places.cache or default_cache()).expanduser() / "downloads"
    stem = file_stem(url.rstrip("/").rpartition("/")[2].partition("?")[0])[-80:]
    file = folder / f"{hashlib.sha256(url.encode()).hexdigest()[:16]}-{stem}"
    wrong = _difference(file, known)
    origin = "cached"
    if wrong is not None:
        if not places.download or os.environ.get(OFFLINE):
            offline = f", and {OFFLINE} is set: nothing is downloaded" if os.environ.get(OFFLINE) else ""
            raise MissingFileError((wrong or f"{url} is not in the cache {folder}") + offline)
        if wrong:
            logger.warning("%s; downloading it again", wrong)
        _download(url, known, file)
        origin = "downloaded"
    places.used.append(origin)
    content, name = file.read_bytes(), f"{file} ({url})"
    member = download.get("member") or ()
    for part in (member,) if isinstance(member, str) else member:
        content, name = _member(content, part, name), f"{part} in {name}"
    return Content(name if member else str(file), content, hashlib.sha256(content).hexdigest())


def _check_keys(download: Mapping[str, Any]) -> None:
    for key, value in download.items():
        if key not in _DOWNLOAD_KEYS:
            raise wrong_name("key of download", str(key), list(_DOWNLOAD_KEYS))
        length = _DOWNLOAD_KEYS[key]
        if length and value is not None:
            digits = isinstance(value, str) and set(value.lower()) <= set("0123456789abcdef")
            if not digits or len(value) != length:
                raise ConfigError(f"download.{key}={value}: expected {length} hexadecimal digits")
    url = download.get("url")
    if not isinstance(url, str) or ("://" not in url and not url.startswith("doi:")):
        raise ConfigError(f"download.url={url}: expected an address, such as https://example.org/data.csv")


def _difference(file: Path, known: str | None) -> str | None:
    """Return None where a file of the cache is as it should be, "" where it is missing, else what is wrong."""
    if not file.is_file():
        return ""
    if known is None:
        return None
    kind, _, expected = known.partition(":")
    with file.open("rb") as content:
        found = hashlib.file_digest(content, kind).hexdigest()
    if found == expected:
        return None
    return f"{file} is cut off or changed: expected {_NAMES[kind]} {expected}, found {found}"


_NAMES = {"sha256": "SHA-256", "md5": "MD5"}


def _download(url: str, known: str | None, file: Path) -> None:
    import pooch

    pooch.get_logger().setLevel(logging.WARNING)
    by_http = url.startswith(("http://", "https://"))
    logger.info("downloading %s", url)
    wait, retry = WAIT, True
    for left in reversed(range(TRIES)):
        try:
            pooch.retrieve(
                url, known, fname=file.name, path=file.parent, downloader=_fetch if by_http else None
            )
            return
        except OSError as error:
            reason = printable(error.strerror or error)
            status = getattr(getattr(error, "response", None), "status_code", 500)
            retry = error.errno is None and (status >= 500 or status == 429)
        except ValueError as error:  # of pooch: the checksum differs; else an address that is none
            reason = printable(error)
            if known is not None and "hash" in reason:
                kind, _, expected = known.partition(":")
                reason = f"not the file expected: expected {_NAMES[kind]} {expected}; {reason}"
        except Exception as error:  # each protocol has errors of its own
            reason, retry = f"{type(error).__name__}: {printable(error)}", False
        if not left or not retry:
            break
        time.sleep(wait)
        wait *= 2
    raise DownloadError(f"{url} cannot be downloaded: {reason}")


class _Counted:
    """A file that takes no more than so many bytes."""

    def __init__(self, stream: IO[bytes], most: float, url: str):
        self._stream, self._left, self._url = stream, most, url

    def write(self, content: bytes) -> int:
        self._left -= len(content)
        if self._left < 0:
            raise OverflowError(f"it sends more than {MOST_BYTES / 2**30:.3g} GiB")
        return self._stream.write(content)

    def flush(self) -> None:
        self._stream.flush()


def _fetch(url: str, output_file: str, pooch_object: Any) -> None:
    """Download as pooch does: with a timeout, and a bound that holds for answers that unpack themselves."""
    import pooch

    with open(output_file, "wb") as stream:
        counted = _Counted(stream, MOST_BYTES, url)
        pooch.HTTPDownloader(timeout=TIMEOUT)(url, counted, pooch_object)


def unpacked(content: bytes, name: str) -> bytes:
    """Unpack what gzip, bzip2 or xz packed, told by the first bytes; leave anything else as it is."""
    if not content and name.endswith((".gz", ".bz2", ".xz")):
        raise DatasetError(f"{name} is a damaged or truncated compressed file: it is empty")
    for start, packing, opener in _PACKINGS:
        if content.startswith(start):
            try:
                with opener(io.BytesIO(content)) as stream:
                    return _bounded(stream, name)
            except _DAMAGE as error:
                raise DatasetError(f"{name} is a damaged or truncated {packing} file: {error}") from error
    return content


def _bounded(stream: IO[bytes], name: str) -> bytes:
    """Read a stream to its end, unless it is larger than memory allows."""
    most = int(psutil.virtual_memory().available * MEMORY_SHARE)
    parts, size = [], 0
    while chunk := stream.read(2**22):
        size += len(chunk)
        if size <= most:
            parts.append(chunk)
        else:
            parts.clear()
            raise DatasetError(
                f"{name} is larger than {most / 2**30:.2g} GiB when it is unpacked, which is more than the free "
                "memory allows; take fewer rows or columns, or free memory"
            )
    return b"".join(parts)


def decoded(content: bytes, name: str) -> str:
    """Decode UTF-8; the error names the line."""
    if b"\0" in content:
        line = content.count(b"\n", 0, content.index(b"\0")) + 1
        raise DatasetError(f"{name}, line {line}: a NUL character, which text does not have; take it out")
    try:
        return content.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        line = content.count(b"\n", 0, error.start) + 1
        raise DatasetError(
            f"{name}, line {line}: not UTF-8 text ({error.reason}); save it as UTF-8"
        ) from error


def _member(archive: bytes, member: str, name: str) -> bytes:
    """Take one file out of a zip or tar archive in memory: by its path in it, or the unique end of one."""
    try:
        if zipfile.is_zipfile(io.BytesIO(archive)):
            opened: Any = zipfile.ZipFile(io.BytesIO(archive))
            names = [each.filename for each in opened.infolist() if not each.is_dir()]
            opener = opened.open
        else:
            opened = tarfile.open(fileobj=io.BytesIO(archive))
            names = [each.name for each in opened if each.isfile()]
            opener = opened.extractfile
        matches = [member] if member in names else [each for each in names if each.endswith("/" + member)]
        if len(matches) == 1:
            with opened, opener(matches[0]) as stream:
                return _bounded(stream, f"{member} in {name}")
    except _DAMAGE as error:
        raise DownloadError(f"{name}: damaged, or not a zip or tar archive ({printable(error)})") from error
    shown = ", ".join(names[:20]) + (", …" if len(names) > 20 else "")
    raise DownloadError(f"{name} holds {len(matches)} files {member}; it holds: {shown or 'none'}")
