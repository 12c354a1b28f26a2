"""A small file to download, and its checksums."""

import hashlib

from experiments.datasets.download import obtain as obtained
from experiments.paths import Places

DATA = b"".join(b"%d,%d\n" % (number, number * number) for number in range(20000))
SHA256 = hashlib.sha256(DATA).hexdigest()
MD5 = hashlib.md5(DATA).hexdigest()


def obtain(url, cache, allow=True, **download):
    """Return the bytes of a download."""
    return obtained({"url": url, **download}, Places((), cache, allow)).stored
