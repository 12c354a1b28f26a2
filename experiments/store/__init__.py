"""Rows on disk: one atomic file per cell, finished ones in packs."""

from experiments.store.store import Store

__all__ = ["Store"]
