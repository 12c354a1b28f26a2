"""Names of rankers: one file each, or a file and a target distance, as in ``relieff_absmean_f1``.

Six target distances fit ten multi-label rankers, which makes 60 rankers of ten files and six.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from experiments.config.overrides import Override, check_name
from experiments.errors import ConfigError, meant, wrong_name
from experiments.locate import locate, parameter_names

#: The group, and the ranker's parameter that it sets.
DISTANCE = "target_distance"


@dataclass(frozen=True)
class RankerNames:
    """What a ranker can be called.

    Attributes
    ----------
    files : mapping of str to Path
        YAML files of rankers.
    distances : mapping of str to Path
        YAML files of target distances.
    default : str
        The ranker of a command line that names none.
    """

    files: Mapping[str, Path]
    distances: Mapping[str, Path]
    default: str

    def split(self, name: str) -> tuple[str, str | None]:
        """Take a name apart.

        Parameters
        ----------
        name : str
            Such as ``"relieff"`` or ``"relieff_f1"``. A file with the whole name comes first.

        Returns
        -------
        base : str
            Name of the ranker's file.
        distance : str or None
            Name of the target distance, if it has one.

        Raises
        ------
        ConfigError
            If there is no such ranker, with near names.
        """
        if name in self.files:
            return name, None
        for distance in self.distances:
            base = name.removesuffix(f"_{distance}")
            if base != name and base in self.files and self._takes_distance(base):
                return base, distance
        with_distance = any(name.startswith(f"{base}_") for base in self.files)
        hint = meant(name, self.all() if with_distance else self.files)
        raise ConfigError(
            f"unknown ranker {name!r}{hint}\nvalid: {', '.join(self.files)}; for labels, relieff…, reliefe…, surf "
            f"and multisurf with {', '.join(f'_{each}' for each in self.distances)} behind them too"
        )

    def composed(self) -> list[str]:
        """List the names that are made of a ranker that compares label sets and a distance."""
        return [
            f"{base}_{each}" for base in self.files if self._takes_distance(base) for each in self.distances
        ]

    def all(self) -> list[str]:
        """List every name; those with a distance come last."""
        return [*self.files, *self.composed()]

    def block(self, distance: str) -> dict[str, Any]:
        """Read the block of a target distance: the ranker's parameter, and ``display_name``."""
        block = read_yaml(self.distances[distance])
        if set(block) != {DISTANCE, "display_name"}:
            raise ConfigError(
                f"{self.distances[distance]}: a target distance has two keys, {DISTANCE} and display_name"
            )
        return block

    def _takes_distance(self, base: str) -> bool:
        block = read_yaml(self.files[base])
        if block.get("compatible"):  # as another library has it, which knows no label sets
            return False
        try:
            return DISTANCE in parameter_names(locate(block.get("_target_", "")))[0]
        except ConfigError:  # a package that is not installed: it is no ranker of ours then
            return False

    def combined(self, part: Sequence[Sequence[Override]]) -> list[list[Override]]:
        """Replace ``ranker=a,b target_distance=x,y`` by the names of the rankers that these make.

        Parameters
        ----------
        part : sequence of sequence of Override
            Each key with its values, as from :func:`experiments.config.overrides.read_overrides`.

        Returns
        -------
        list of list of Override
            Without the key ``target_distance``.

        Raises
        ------
        ConfigError
            For an unknown distance or ranker, and for a ranker that has a distance already.
        """
        by_key = {values[0].key: list(values) for values in part}
        wanted = by_key.pop(DISTANCE, None)
        if wanted is None:
            return list(by_key.values())
        if "ranker._target_" in by_key:
            raise ConfigError(
                f"{wanted[0].typed}: the ranker given by ranker._target_ takes it as ranker.{DISTANCE}=…"
            )
        for each in wanted:
            check_name(each, self.distances)
            if each.value not in self.distances:
                raise wrong_name(DISTANCE, each.value, self.distances)
        names = []
        for ranker in by_key.get("ranker") or [Override("ranker", self.default, self.default)]:
            check_name(ranker, self.files)
            base, distance = self.split(ranker.value)
            if distance is not None:
                raise ConfigError(
                    f"ranker={ranker.value} has a target distance already: leave out {wanted[0].typed}"
                )
            if not self._takes_distance(base):
                raise ConfigError(
                    f"ranker={base} compares no label sets, so {wanted[0].typed} means nothing to it\n"
                    f"valid: {', '.join(each for each in self.files if self._takes_distance(each))}"
                )
            names += [f"{base}_{each.value}" for each in wanted]
        at_ranker = [Override("ranker", name, name) for name in dict.fromkeys(names)]
        return list(
            (
                {**by_key, "ranker": at_ranker} if "ranker" in by_key else {"ranker": at_ranker, **by_key}
            ).values()
        )

    def bases(self, rankers: Sequence[Override]) -> list[Override]:
        """Strip target distances off names, each base once."""
        names = dict.fromkeys(self.split(each.value)[0] for each in rankers)
        return [Override("ranker", name, name) for name in names]


def read_yaml(path: Path) -> dict[str, Any]:
    """Read a YAML file that holds keys.

    Parameters
    ----------
    path : Path
        The file.

    Returns
    -------
    dict

    Raises
    ------
    ConfigError
        If it cannot be read as YAML, or holds no keys.
    """
    import yaml

    try:
        found = yaml.safe_load(path.read_text(encoding="utf-8"))
    except yaml.YAMLError as error:
        raise ConfigError(f"{path}: {' '.join(str(error).split())}") from error
    if not isinstance(found, dict):
        raise ConfigError(f"{path}: no keys in it")
    return found
