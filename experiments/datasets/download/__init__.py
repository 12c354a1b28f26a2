"""Files from this machine or from the network, with checksums, retries and a cache."""
