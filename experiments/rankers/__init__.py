"""Adapters: anything configured becomes ``rank(X, y, seed)`` → weights."""

from experiments.errors import ConfigError, RankerError
from experiments.rankers.adapters import RankResult, build, built_value, call, rank

__all__ = ["ConfigError", "RankResult", "RankerError", "build", "built_value", "call", "rank"]
