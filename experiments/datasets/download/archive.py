"""What came over the network: is it the file, and is it whole; and files taken out of archives."""

from __future__ import annotations

import bz2
import gzip
import lzma
import re
import tarfile
import zipfile
import zlib
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import IO, Any

import rarfile

from experiments.errors import DownloadError

_PACKINGS: tuple[tuple[bytes, str, Callable[..., Any]], ...] = (
    (b"\x1f\x8b", "gzip", gzip.open),
    (b"BZh", "bzip2", bz2.open),
    (b"\xfd7zXZ\x00", "xz", lzma.open),
)

_DAMAGE = (
    OSError,
    EOFError,
    ValueError,
    RuntimeError,  # zipfile: encrypted
    NotImplementedError,  # zipfile: a method it does not know
    zlib.error,
    lzma.LZMAError,
    zipfile.BadZipFile,
    tarfile.TarError,
    rarfile.Error,
)

_CHUNK = 1 << 20

#: The start of a page for people. Label lists of Mulan are XML, and none of these.
_PAGE = re.compile(
    rb"\A(?:\xef\xbb\xbf)?\s*(?:<\?xml[^>]*>\s*)?(?:<!--.*?-->\s*)*<(?:!doctype\s+html|html|head|body)\b",
    re.I | re.S,
)

_POINTER = b"version https://git-lfs.github.com/spec/"


def refused(file: Path, url: str) -> str:
    """Say why a download is not the file, as far as its first bytes tell; empty if nothing speaks against it.

    Parameters
    ----------
    file : Path
        What came.
    url : str
        Where from.

    Returns
    -------
    str
    """
    with file.open("rb") as content:
        start = content.read(4096)
    if not start:
        return "the file is empty"
    if _PAGE.match(start) and not url.partition("?")[0].lower().endswith((".html", ".htm")):
        title = re.search(rb"<title[^>]*>(.*?)</title", start, re.I | re.S)
        said = f" ({' '.join(title[1].decode('utf-8', 'replace').split())[:80]})" if title else ""
        return f"the server sent a web page{said} instead of the file"
    if start.startswith(_POINTER):
        return "the server sent a Git LFS pointer instead of the file"
    return ""


def damage(file: Path) -> str:
    """Read a packed file or an archive to its end; say what is wrong with it, or return the empty string.

    Parameters
    ----------
    file : Path
        Of any kind; one that is neither packed nor an archive is fine.

    Returns
    -------
    str
    """
    with file.open("rb") as content:
        start = content.read(8)
    for magic, packing, opener in _PACKINGS:
        if start.startswith(magic):
            try:
                with opener(file) as content:
                    while content.read(_CHUNK):
                        pass
            except _DAMAGE as error:
                return f"it is no whole {packing} file ({error})"
            return ""
    if start.startswith(b"PK\x03\x04"):
        try:
            with zipfile.ZipFile(file) as archive:
                bad = archive.testzip()
        except _DAMAGE as error:
            return f"it is no whole zip archive ({error})"
        return "" if bad is None else f"it is no whole zip archive ({bad} is damaged)"
    return ""


def take_out(archive: Path, members: Sequence[str], folder: Path, name: str) -> Path:
    """Take one file out of an archive (zip, tar, packed tar, rar, or what lies within such an archive).

    A rar archive needs one of the programs ``unrar``, ``unar``, ``7zz`` and ``bsdtar``.

    Parameters
    ----------
    archive : Path
        The outermost.
    members : sequence of str
        Path of the file within the archive, or the unique end of one; before it those of the archives in between.
    folder : Path
        Where the file goes.
    name : str
        Of the archive, for messages.

    Returns
    -------
    Path

    Raises
    ------
    DownloadError
        No archive, a damaged one, or no such file in it (with what is there).
    OSError
        When it cannot be written.
    """
    current = archive
    for depth, member in enumerate(members):
        target = folder / f"member{depth}"
        with _members(current, name) as (names, opened):
            found = _place(member, names, name)
            with target.open("wb") as file:
                _copy(opened, found, file, name)
        if current != archive:
            current.unlink()
        current = target
        name = f"{member} in {name}"
    return current


@contextmanager
def _members(archive: Path, name: str) -> Iterator[tuple[list[str], Callable[[str], IO[bytes] | None]]]:
    try:
        if zipfile.is_zipfile(archive) or rarfile.is_rarfile(archive):
            opened = (zipfile.ZipFile if zipfile.is_zipfile(archive) else rarfile.RarFile)(archive)
            names = [each.filename for each in opened.infolist() if not each.is_dir()]
            opener = opened.open
        else:
            opened = tarfile.open(archive)
            names = [each.name for each in opened if each.isfile()]
            opener = opened.extractfile
    except _DAMAGE as error:
        reason = str(error).partition(":\n")[0].splitlines()[0]
        raise DownloadError(f"{name} is no whole zip, tar or rar archive ({reason})") from error
    with opened:
        yield names, opener


def _place(member: str, names: Sequence[str], archive: str) -> str:
    if member in names:
        return member
    ends = [each for each in names if each.endswith("/" + member)]
    if len(ends) == 1:
        return ends[0]
    shown = ", ".join(names[:20]) + (", …" if len(names) > 20 else "")
    what = "no file" if not ends else f"{len(ends)} files"
    raise DownloadError(f"{archive} holds {what} {member}; there are: {shown or 'none'}")


def _copy(opener: Callable[[str], IO[bytes] | None], member: str, file: IO[bytes], name: str) -> None:
    try:
        source = opener(member)
    except rarfile.RarCannotExec as error:
        raise DownloadError(
            f"{member} in {name} cannot be unpacked: install one of unrar, unar, 7zz, bsdtar, or unpack it by hand"
        ) from error
    except _DAMAGE as error:
        raise DownloadError(f"{member} in {name} cannot be read: {error}") from error
    if source is None:
        raise DownloadError(f"{member} in {name} is no file")
    with source:
        while True:
            try:
                chunk = source.read(_CHUNK)
            except _DAMAGE as error:
                raise DownloadError(f"{member} in {name} is cut off or damaged: {error}") from error
            if not chunk:
                return
            file.write(chunk)
