"""A small file to download, and its checksums."""

import hashlib

from experiments.datasets.download import cache as fetch

DATA = b"".join(b"%d,%d\n" % (number, number * number) for number in range(20000))
SHA256 = hashlib.sha256(DATA).hexdigest()
MD5 = hashlib.md5(DATA).hexdigest()


def obtain(url, cache, **download):
    return fetch.obtain("data.csv", download={"url": url, **download}, cache=cache)
