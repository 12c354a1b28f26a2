"""One file over HTTP: tried again when the network fails, resumed where the server allows it, never half taken."""

from __future__ import annotations

import errno
import json
import logging
import shutil
import sys
import time
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from experiments.errors import DownloadError

logger = logging.getLogger(__name__)

_CHUNK = 1 << 16

#: Answers after which the same request may well succeed a little later.
_PASSING = frozenset({408, 425, 429, 500, 502, 503, 504})

_NO_ROOM = (errno.ENOSPC, errno.EDQUOT, errno.EFBIG)


@dataclass(frozen=True)
class Patience:
    """How long to go on trying, by the rules of urllib3's ``Retry``.

    Attributes
    ----------
    attempts : int
        Requests in all, once the server has been reached.
    unreached_attempts : int
        Requests in all, when no connection is made: without a network the answer should come soon.
    first_wait : float
        Half of the seconds before the third request; doubled each time. The second request comes at once, unless
        the server asks for a pause.
    longest_wait : float
        Seconds; the most that is waited, also when the server asks for more.
    connect_timeout, read_timeout : float
        Seconds without a connection, and without a single byte.
    """

    attempts: int = 5
    unreached_attempts: int = 2
    first_wait: float = 1.0
    longest_wait: float = 60.0
    connect_timeout: float = 10.0
    read_timeout: float = 60.0


PATIENCE = Patience()


class _Again(Exception):
    """An attempt failed in a way that another may not; ``headers`` are those of an answer that says so."""

    def __init__(self, reason: str, headers: Mapping[str, str] | None = None, reached: bool = True) -> None:
        super().__init__(reason)
        self.headers = headers
        self.reached = reached


def transfer(url: str, part: Path, *, patience: Patience | None = None, length_needed: bool = False) -> None:
    """Download a file.

    What came before the connection broke is kept in ``part``, and a later call, of this process or another, goes
    on from there if the server still has the same file (by its ETag or date) and can send a range of it. Else it
    starts from the beginning. Callers see to it that one process at a time works on ``part``.

    Parameters
    ----------
    url : str
        ``http`` or ``https``; redirects are followed.
    part : Path
        Where to. Whole when this returns, by what the server says of its length.
    patience : Patience, optional
        :data:`PATIENCE` if not given.
    length_needed : bool
        Refuse a file whose end the server does not mark (neither a length nor chunks), for when nothing else can
        tell half of it from the whole.

    Raises
    ------
    DownloadError
        When the server cannot be reached, answers with an error, or always breaks off; or the disk is full.
    """
    from urllib3.exceptions import ConnectTimeoutError, MaxRetryError, ProtocolError
    from urllib3.util import Retry

    patience = patience or PATIENCE
    retry = Retry(
        patience.attempts - 1,
        connect=patience.unreached_attempts - 1,
        backoff_factor=patience.first_wait,
        backoff_max=patience.longest_wait,
    )
    while True:
        try:
            _attempt(url, part, patience, length_needed)
            return
        except _Again as error:
            kind = ProtocolError if error.reached else ConnectTimeoutError
            try:
                retry = retry.increment("GET", url, error=kind(str(error)))
            except MaxRetryError:
                if part.is_file() and not part.stat().st_size:
                    discard(part)  # nothing to go on from
                failed = len(retry.history) + 1
                times = "once" if failed == 1 else f"{failed} times"
                raise DownloadError(f"{url} cannot be downloaded: {error} (tried {times})") from error
            wait = min(max(retry.get_backoff_time(), _wait_asked_for(error, retry)), patience.longest_wait)
            logger.info("%s: %s; trying again in %g s", url, error, wait)
            time.sleep(wait)


def discard(part: Path) -> None:
    """Forget what is there of a download that is to start from the beginning."""
    part.unlink(missing_ok=True)
    _note(part).unlink(missing_ok=True)


@contextmanager
def room_for(folder: Path, what: str) -> Iterator[None]:
    """Turn a full disk, or one that cannot be written to, into the error that says what to do."""
    try:
        yield
    except OSError as error:
        if isinstance(error, DownloadError):
            raise
        full = error.errno in _NO_ROOM
        reason = "the disk is full; make room, or" if full else f"{error.strerror or error};"
        raise DownloadError(
            f"{what} cannot be written to {folder}: {reason} name another folder: "
            "paths.cache=FOLDER, or the environment variable RELIEFE_CACHE"
        ) from error


def _attempt(url: str, part: Path, patience: Patience, length_needed: bool) -> None:
    import requests  # slow to import, and needed for a download only

    done, validator = _progress(part, url)
    # Identity: lengths and ranges then count the bytes of the file itself.
    headers = {"Accept-Encoding": "identity", "User-Agent": "reliefe-bench"}
    if done:
        headers |= {"Range": f"bytes={done}-", "If-Range": validator}
    timeouts = (patience.connect_timeout, patience.read_timeout)
    try:
        response = requests.get(url, headers=headers, stream=True, timeout=timeouts)
    except (requests.exceptions.ReadTimeout, requests.exceptions.ChunkedEncodingError) as error:
        raise _Again(_reason(error)) from error
    except (requests.exceptions.ConnectionError, requests.exceptions.Timeout) as error:
        raise _Again(_reason(error), reached=_was_reached(error)) from error
    except (requests.exceptions.RequestException, ValueError) as error:
        raise DownloadError(f"{url} cannot be downloaded: {_reason(error)}") from error
    with response:
        if response.status_code in _PASSING:
            raise _Again(_status(response), response.headers)
        if response.status_code == 416 or (response.status_code == 206 and not _goes_on(response, done)):
            discard(part)
            raise _Again("the server has another range of the file than asked for")
        if response.status_code not in (200, 206):
            raise DownloadError(f"{url} cannot be downloaded: {_status(response)}")
        if response.status_code == 200:
            done = 0
            discard(part)
        _receive(response, url, part, done, length_needed)


def _receive(response: Any, url: str, part: Path, done: int, length_needed: bool) -> None:
    from tqdm import tqdm

    encoded = response.headers.get("Content-Encoding", "identity") != "identity"
    stated = response.headers.get("Content-Length", "")
    remaining = int(stated) if stated.isdigit() and not encoded else None
    chunked = "chunked" in response.headers.get("Transfer-Encoding", "").lower()
    if length_needed and not stated.isdigit() and not chunked:
        raise DownloadError(
            f"{url} cannot be downloaded: the server does not say how long the file is, and no checksum is known "
            "by which to tell a part from the whole; state sha256 under download"
        )
    with room_for(part.parent, url):
        part.parent.mkdir(parents=True, exist_ok=True)
        if remaining is not None and remaining > shutil.disk_usage(part.parent).free:
            raise OSError(errno.ENOSPC, "too large")
        if not done:
            _write_note(part, url, response, encoded)
    total = None if remaining is None else done + remaining
    size = "" if total is None else f" ({total / 2**20:.1f} MiB)"
    logger.info("downloading %s%s%s", url, size, f", from byte {done}" if done else "")
    received = done
    bar = tqdm(
        total=total,
        initial=done,
        unit="B",
        unit_scale=True,
        unit_divisor=1024,
        desc=url.rstrip("/").rpartition("/")[2],
        file=sys.stderr,
        disable=None,  # no bar where nobody watches: a log, a pipe
    )
    try:
        with bar, room_for(part.parent, url), part.open("ab" if done else "wb") as file:
            for chunk in _chunks(response):
                file.write(chunk)
                received += len(chunk)
                bar.update(len(chunk))
    except _Again as error:
        # An unfinished chunk is not kept, and yet its bytes came.
        came = max(received, done + _came_in_all(error))
        of = "" if total is None else f" of {total}"
        raise _Again(f"the connection broke off after {came}{of} bytes ({error})") from error
    except DownloadError:
        discard(part)
        raise
    if total is not None and received != total:
        if received > total:
            discard(part)
        raise _Again(f"{received} bytes came, and {total} were announced")


def _chunks(response: Any) -> Iterator[bytes]:
    import requests

    try:
        yield from response.iter_content(_CHUNK)
    except requests.exceptions.RequestException as error:  # an OSError, and yet none of the disk
        raise _Again(_reason(error)) from error


def _progress(part: Path, url: str) -> tuple[int, str]:
    """Tell how many bytes are there to go on from, and by what the server knows the file."""
    try:
        note = json.loads(_note(part).read_text(encoding="utf-8"))
        if note["url"] == url and isinstance(note["validator"], str) and note["validator"]:
            return part.stat().st_size, note["validator"]
    except (OSError, ValueError, KeyError, TypeError):
        pass
    return 0, ""


def _note(part: Path) -> Path:
    return part.with_name(part.name + ".json")


def _write_note(part: Path, url: str, response: Any, encoded: bool) -> None:
    tag = response.headers.get("ETag", "")
    # A weak tag does not promise the same bytes.
    validator = response.headers.get("Last-Modified", "") if tag.startswith("W/") or not tag else tag
    if encoded or response.headers.get("Accept-Ranges", "").lower() == "none":
        validator = ""
    _note(part).write_text(json.dumps({"url": url, "validator": validator}), encoding="utf-8")


def _goes_on(response: Any, done: int) -> bool:
    return done > 0 and response.headers.get("Content-Range", "").startswith(f"bytes {done}-")


def _status(response: Any) -> str:
    address = f" from {response.url}" if response.history else ""
    said = ""
    if "json" in response.headers.get("Content-Type", ""):  # OpenML says in JSON what it does not have
        try:
            said = f": {json.loads(response.raw.read(2048, decode_content=True))['error']['message']}"
        except (OSError, ValueError, KeyError, TypeError):
            pass
    return f"HTTP {response.status_code} {response.reason or ''}".rstrip() + said + address


def _wait_asked_for(error: _Again, retry: Any) -> float:
    from urllib3.exceptions import InvalidHeader

    try:
        return retry.parse_retry_after((error.headers or {}).get("Retry-After", "0"))
    except InvalidHeader:  # neither seconds nor a date
        return 0.0


def _was_reached(error: BaseException) -> bool:
    """Tell a connection that was cut from one that was never made."""
    seen: BaseException | None = error
    while seen is not None:
        if isinstance(seen, ConnectionResetError | BrokenPipeError) or type(seen).__name__ in (
            "RemoteDisconnected",
            "ProtocolError",
        ):
            return True
        inner = getattr(seen, "reason", None) or next(
            (each for each in seen.args if isinstance(each, BaseException)), None
        )
        seen = inner if isinstance(inner, BaseException) else seen.__cause__
    return False


def _came_in_all(error: BaseException) -> int:
    """Return how many bytes of an answer came before it broke off, as far as the error knows."""
    seen: BaseException | None = error
    while seen is not None:
        partial = getattr(seen, "partial", None)
        if type(seen).__name__ == "IncompleteRead" and isinstance(partial, int):
            return partial
        seen = next((each for each in seen.args if isinstance(each, BaseException)), None) or seen.__cause__
    return 0


def _reason(error: BaseException) -> str:
    """Say in a few words what went wrong: the innermost message."""
    seen: BaseException = error
    while True:
        inner = getattr(seen, "reason", None)
        if not isinstance(inner, BaseException):
            inner = next((each for each in seen.args if isinstance(each, BaseException)), None)
        if inner is None or inner is seen:
            break
        seen = inner
    text = str(seen).strip().rpartition(": ")[2] if seen is not error else str(seen).strip()
    return (text.splitlines() or [type(seen).__name__])[0][:200] or type(seen).__name__
