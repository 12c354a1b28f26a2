"""Files of data sets: from a local folder, else from the cache, else downloaded into the cache.

A file in the cache is there whole or not at all. Its SHA-256 is the one that the YAML file states or, where none is
known, the one recorded when it first came; it is compared each time the file is used. Local folders are only read.
"""

from __future__ import annotations

import hashlib
import json
import logging
import os
import shutil
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import filelock

from experiments.datasets.download import archive as packed
from experiments.datasets.download.http import discard, room_for, transfer
from experiments.errors import ConfigError, DatasetError, DownloadError, MissingFileError, wrong_name
from experiments.paths import default_cache, file_stem, write_whole

logger = logging.getLogger(__name__)

#: Environment variable that forbids downloads when it is set to anything.
OFFLINE = "RELIEFE_OFFLINE"

#: How often a whole file of the wrong content is downloaded before the server is taken at its word.
_TIMES = 2


@dataclass(frozen=True)
class Download:
    """Where a file can be had, as ``download:`` in a YAML file says.

    Attributes
    ----------
    url : str
        ``http``, ``https``, or what else the package pooch understands (``ftp``, ``sftp``, ``doi``).
    sha256, md5 : str, optional
        Of what lies at ``url``, hexadecimal.
    member : tuple of str
        What to take out of it when it is an archive: the path within, or the unique end of one; several for
        archives within archives, the outermost first.
    changes : bool
        Whether what lies at ``url`` may change with time. If so, no checksum binds a later download.
    """

    url: str
    sha256: str | None = None
    md5: str | None = None
    member: tuple[str, ...] = ()
    changes: bool = False

    @classmethod
    def read(cls, block: Mapping[str, Any]) -> Download:
        """Read a block of a YAML file.

        Raises
        ------
        ConfigError
            For a key that does not exist, no address, or a checksum that is none.
        """
        keys = ("url", "sha256", "md5", "member", "changes")
        for key in block:
            if key not in keys:
                raise wrong_name("key of download", str(key), keys)
        url = block.get("url")
        if not isinstance(url, str) or ("://" not in url and not url.startswith("doi:")):
            raise ConfigError(
                f"download.url={url}: expected an address, such as https://example.org/data.csv"
            )
        for key, length in (("sha256", 64), ("md5", 32)):
            value = block.get(key)
            if value is not None and not (
                isinstance(value, str)
                and len(value) == length
                and set(value.lower()) <= set("0123456789abcdef")
            ):
                raise ConfigError(f"download.{key}={value}: expected {length} hexadecimal digits")
        member = block.get("member") or ()
        return cls(
            url,
            block.get("sha256") and block["sha256"].lower(),
            block.get("md5") and block["md5"].lower(),
            (member,) if isinstance(member, str) else tuple(str(each) for each in member),
            bool(block.get("changes", False)),
        )


def obtain(
    path: str,
    *,
    places: Sequence[Path] = (),
    download: Mapping[str, Any] | None = None,
    sha256: str | None = None,
    cache: str | os.PathLike[str] | None = None,
    allow_download: bool = True,
    fresh: bool = False,
    check: Callable[[Path], str] | None = None,
) -> Path:
    """Find a file, or get it.

    No connection is opened for a file that is in a local folder or in the cache.

    Parameters
    ----------
    path : str
        Within the local folders, or absolute.
    places : sequence of Path
        Local folders, in the order they are tried.
    download : mapping, optional
        Where else the file can be had; the fields of :class:`Download`.
    sha256 : str, optional
        Expected SHA-256 of the local file, hexadecimal.
    cache : path, optional
        Folder of downloads; :func:`experiments.paths.default_cache` if not given.
    allow_download : bool
        Whether a connection may be opened; none is while the environment variable ``RELIEFE_OFFLINE`` is set.
    fresh : bool
        Download it even if it is in the cache (if downloads are allowed): for what may have changed.
    check : callable, optional
        Looks at what was downloaded before it is kept, and says what is wrong with it, or the empty string.

    Returns
    -------
    Path
        A whole file, whose checksum was compared wherever one is stated or recorded. Not to be changed.

    Raises
    ------
    MissingFileError
        In neither place, and no download is allowed or no address known.
    DownloadError
        It cannot be downloaded, or what came is not the file (a checksum that differs, a page in its place, an
        archive that is cut off). The cache is left as it was.
    DatasetError
        The local file has another checksum.
    """
    looked_at = [folder / Path(path).expanduser() for folder in places]
    for candidate in looked_at:
        if candidate.is_file():
            _compare_local(candidate, sha256)
            return candidate
    folder = default_cache() if cache is None else Path(cache).expanduser()
    if download is None:
        where = ", ".join(str(each) for each in looked_at) or "no local folder"
        raise MissingFileError(f"file {path} not found (looked at {where}), and no address for it is known")
    entry = _Entry(Download.read(download), folder / "downloads", check)
    if os.environ.get(OFFLINE) and not entry.is_good():
        problem = entry.problem or f"{entry.download.url} is not in the cache {entry.file.parent}"
        raise MissingFileError(f"{problem}, and {OFFLINE} is set: nothing is downloaded")
    return entry.obtain(allow_download, fresh)


class _Entry:
    """One file of the cache, and beside it: its record, its lock, and a folder for what is on its way."""

    def __init__(self, download: Download, folder: Path, check: Callable[[Path], str] | None = None) -> None:
        self.download = download
        self.check = check
        what = "\n".join([download.url, *download.member])
        name = (download.member[-1] if download.member else download.url).rstrip("/").rpartition("/")[2]
        name = file_stem(name.partition("?")[0])[-80:]
        self.file = folder / f"{hashlib.sha256(what.encode()).hexdigest()[:16]}-{name}"
        self.record = self.file.with_name(self.file.name + ".json")
        self.arriving = self.file.with_name(self.file.name + ".arriving")
        self.problem = ""

    def obtain(self, allow_download: bool, fresh: bool = False) -> Path:
        """Return the file, from the cache or downloaded."""
        if self.is_good() and not (fresh and allow_download):
            return self.file
        if not allow_download:
            raise MissingFileError(
                self.problem or f"{self.download.url} is not in the cache {self.file.parent}"
            )
        with self._lock():
            if fresh or not self.is_good():  # another process may have been first
                if self.problem:
                    logger.warning("%s; downloading it again", self.problem)
                try:
                    self._extract() if self.download.member else self._download()
                except DownloadError as error:
                    if self.problem:
                        raise DownloadError(f"{self.problem}; {error}") from error
                    raise
        return self.file

    def is_good(self) -> bool:
        """Tell whether the file is there as it should be; if it is there otherwise, ``problem`` says how."""
        self.problem = ""
        try:
            with self.file.open("rb") as content:
                found = hashlib.file_digest(content, "sha256").hexdigest()
        except FileNotFoundError:
            return False
        except OSError as error:
            self.problem = f"{self.file} cannot be read: {error.strerror or error}"
            return False
        expected = self._expected()
        if expected is None:
            self.problem = f"{self.file} has no record of its checksum"
        elif expected != found:
            self.problem = (
                f"{self.file} ({self.file.stat().st_size} bytes) is cut off or changed: "
                f"expected SHA-256 {expected}, found {found}"
            )
        return not self.problem

    def _expected(self) -> str | None:
        """Return the checksum that is stated, else the one recorded."""
        if self.download.sha256 is not None and not self.download.member:
            return self.download.sha256
        try:
            recorded = json.loads(self.record.read_text(encoding="utf-8"))["sha256"]
        except (OSError, ValueError, KeyError, TypeError):
            return None
        return recorded if isinstance(recorded, str) else None

    @contextmanager
    def _lock(self) -> Iterator[None]:
        with room_for(self.file.parent, "the lock of a download"):
            self.file.parent.mkdir(parents=True, exist_ok=True)
            lock = filelock.FileLock(self.file.with_name(self.file.name + ".lock"))
            try:
                lock.acquire(timeout=0)
            except filelock.Timeout:
                logger.info("another process is downloading %s; waiting for it", self.download.url)
                lock.acquire()
        try:
            self._clear()
            yield
        finally:
            # A folder with a part of a file in it stays: the next try goes on from there. The lock file stays too:
            # one that is removed while another process waits for it lets two of them in.
            with suppress(OSError):
                self._clear()
                self.arriving.rmdir()
            lock.release()

    def _clear(self) -> None:
        """Leave of an earlier try only what a download can go on from."""
        for each in self.arriving.iterdir() if self.arriving.is_dir() else ():
            if not each.name.startswith("part"):
                shutil.rmtree(each) if each.is_dir() else each.unlink()

    def _download(self) -> None:
        import pooch

        pooch.get_logger().setLevel(logging.WARNING)  # what it would print is said here, with a bar
        download = self.download
        expected = None if download.changes and download.sha256 is None else self._expected()
        known = (expected and f"sha256:{expected}") or (download.md5 and f"md5:{download.md5}")
        fetcher = _Fetcher(self.arriving / "part", known is not None, self.check)
        for time_left in reversed(range(_TIMES)):
            try:
                with room_for(self.file.parent, download.url):
                    arrived = pooch.retrieve(
                        download.url, known, fname="arrived", path=self.arriving, downloader=fetcher
                    )
            except _WrongContent as error:
                wrong = str(error)
            except ValueError:  # pooch: the checksum differs
                wrong = self._wrong_checksum(expected, fetcher.found)
            else:
                self._keep(Path(arrived))
                return
            discard(fetcher.part)
            self._clear()
            if not time_left:
                raise DownloadError(f"{download.url}: {wrong}")
            logger.info("%s: %s; downloading it once more", download.url, wrong)

    def _wrong_checksum(self, expected: str | None, found: Mapping[str, str]) -> str:
        kind, value = ("SHA-256", expected) if expected else ("MD5", self.download.md5)
        text = f"what is there is not the file expected: expected {kind} {value}, found {found[kind]}"
        if expected and expected != self.download.sha256:
            text += f"; the one expected was recorded on first use; if the new file is right, delete {self.record}"
        return text

    def _extract(self) -> None:
        download = self.download
        outer = Download(download.url, download.sha256, download.md5)
        archive = _Entry(outer, self.file.parent).obtain(True)
        with room_for(self.file.parent, download.member[-1]):
            self.arriving.mkdir(exist_ok=True)
            arrived = packed.take_out(archive, download.member, self.arriving, f"{download.url} ({archive})")
        self._keep(arrived)

    def _keep(self, arrived: Path) -> None:
        with arrived.open("rb+") as content:
            found = hashlib.file_digest(content, "sha256").hexdigest()
            os.fsync(content.fileno())
        record = {
            "url": self.download.url,
            "member": list(self.download.member),
            "sha256": found,
            "bytes": arrived.stat().st_size,
            "downloaded": time.strftime("%Y-%m-%dT%H:%M:%SZ", time.gmtime()),
        }
        with room_for(self.file.parent, self.file.name):
            # The record first: a file without one would not be trusted.
            write_whole(self.record, (json.dumps(record, indent=1) + "\n").encode())
            os.replace(arrived, self.file)
        shutil.rmtree(self.arriving, ignore_errors=True)


class _WrongContent(Exception):
    """A whole file came, and it is not the one asked for."""


class _Fetcher:
    """What the package pooch calls to download: looks at what came before pooch compares its checksum."""

    def __init__(self, part: Path, checked: bool, check: Callable[[Path], str] | None) -> None:
        self.part = part
        self.checked = checked  # whether a checksum is going to be compared
        self.check = check
        self.found: dict[str, str] = {}

    def __call__(self, url: str, output_file: str, pooch_object: Any) -> None:
        if url.startswith(("http://", "https://")):
            transfer(url, self.part, length_needed=not self.checked)
        else:
            _other_download(url, self.part)
        wrong = packed.refused(self.part, url) or ("" if self.checked else packed.damage(self.part))
        wrong = wrong or (self.check(self.part) if self.check else "")
        if wrong:
            raise _WrongContent(wrong)
        with self.part.open("rb") as content:
            self.found["SHA-256"] = hashlib.file_digest(content, "sha256").hexdigest()
            content.seek(0)
            self.found["MD5"] = hashlib.file_digest(content, "md5").hexdigest()
        os.replace(self.part, output_file)


def _other_download(url: str, part: Path) -> None:
    import pooch

    try:
        part.parent.mkdir(parents=True, exist_ok=True)
        pooch.downloaders.choose_downloader(url)(url, str(part), None)
    except OSError:
        raise
    except Exception as error:  # each protocol has errors of its own
        raise DownloadError(f"{url} cannot be downloaded: {type(error).__name__}: {error}") from error


def _compare_local(file: Path, sha256: str | None) -> None:
    if sha256 is None:
        return
    try:
        with file.open("rb") as content:
            found = hashlib.file_digest(content, "sha256").hexdigest()
    except OSError as error:
        raise DatasetError(f"{file} cannot be read: {error.strerror or error}") from error
    if found != sha256.lower():
        raise DatasetError(
            f"{file} ({file.stat().st_size} bytes) is cut off or changed: "
            f"expected SHA-256 {sha256.lower()}, found {found}\n"
            "replace it by a good copy, or name a folder that holds one: paths.local_data=FOLDER"
        )
