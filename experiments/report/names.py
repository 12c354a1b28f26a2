"""Names of the files that are made of a study: no two studies, and no two selections, write the same file.

What belongs to a named study begins with its name, changes and additions that were typed beside it included
(``mcc``, ``mcc[dataset=chess]``, ``mcc+Mine``). What has no name is called after what was asked for: data sets,
protocols and rankers, in alphabetical order. A file of one's own is told by its path and target from another of the
same name, a ranker named by its target from another of that name. So the same command again writes over its own
files, also with the names in another order, and no other command does.
"""

from __future__ import annotations

import hashlib
from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from experiments.paths import file_stem

#: Names joined by plus signs are written out up to this many characters; beyond, their number stands for them.
_LONGEST = 64
#: Where readers of a user's files are, and rankers whose names are those of their YAML files.
_OWN = "experiments.datasets.own."
_OURS = ("experiments.", "reliefe.")


class Names:
    """The names of one report's files."""

    def __init__(self, configs: Sequence[Mapping[str, Any]]):
        self._configs = list(configs)
        self._study = next((str(each["study"]) for each in configs if each.get("study")), None)

    @property
    def page(self) -> str:
        """Stem of the page."""
        return file_stem(self._study or _data_sets_and_rankers(self._configs))

    def of_pair(self, dataset: str, protocol: str) -> str:
        """Return the stem of the table and the figure of one data set under one protocol."""
        if self._study is not None:
            return file_stem(self._study, dataset, protocol)
        return file_stem(
            _data_sets_and_rankers(
                each
                for each in self._configs
                if (each["dataset_key"], each["protocol"]["name"]) == (dataset, protocol)
            )
        )

    def of_measured(self, protocol: str) -> tuple[str, ...]:
        """Return how the files of what was measured under one protocol begin."""
        if self._study is not None:
            return (self._study,) if self._study == protocol else (self._study, protocol)
        return (
            _data_sets_and_rankers(each for each in self._configs if each["protocol"]["name"] == protocol),
        )


def _data_sets_and_rankers(configs: Iterable[Mapping[str, Any]]) -> str:
    asked = sorted({(_data_set(each), _protocol(each), _ranker(each)) for each in configs})
    several = [sorted({each[place] for each in asked}) for place in range(3)]
    nouns = ("data_sets", "protocols", "rankers")
    parts = [_joined(names, noun) for names, noun in zip(several, nouns, strict=True)]
    n_all = len(several[0]) * len(several[1]) * len(several[2])
    if len(asked) != n_all:  # not every ranker on every data set: which ones is a part of the name
        parts.append(f"{len(asked)}_of_{n_all}-{_digest(map(repr, asked))}")
    return "_".join(parts)


def _data_set(config: Mapping[str, Any]) -> str:
    """Name a data set; a user's file is told from others of that name by its reader, path and target."""
    source = config["dataset"].get("source") or {}
    reader = str(source.get("_target_", ""))
    if not reader.startswith(_OWN):
        return config["dataset_key"]
    which = (reader, source.get("path"), source.get("target"))
    return f"{config['dataset_key']}-{_digest(map(repr, which))}"


def _ranker(config: Mapping[str, Any]) -> str:
    """Name a ranker; one that is called after a class or function of others is told by its module as well."""
    target, key = str(config["ranker"]["_target_"]), config["ranker_key"]
    if target.startswith(_OURS) or not key.startswith(target.rpartition(".")[2]):
        return key
    return f"{key}-{_digest([target])}"


def _protocol(config: Mapping[str, Any]) -> str:
    """Name a protocol; one that was given a name by hand is told from others of that name by its settings."""
    name = config["protocol"]["name"]
    key = config.get("protocol_key", name)
    return name if key == name else f"{name}-{_digest([key])}"


def _joined(names: Sequence[str], noun: str) -> str:
    joined = "+".join(names)
    if len(names) == 1 or len(joined) <= _LONGEST:
        return joined
    return f"{len(names)}_{noun}-{_digest(names)}"


def _digest(texts: Iterable[str]) -> str:
    return hashlib.sha256("\0".join(texts).encode()).hexdigest()[:8]
