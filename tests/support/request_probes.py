"""A feature of requests, and probes that find it in a vendor's request."""

import json
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any

Json = dict[str, Any]
Probe = Callable[[Json], bool]


def says(word: str) -> Probe:
    """Whether the word is anywhere in the request."""
    return lambda sent: word in json.dumps(sent)


def at(*path: str | int, equals: Any = ...) -> Probe:
    """Whether there is a value at a path, or exactly this value."""

    def probe(sent: Json) -> bool:
        here: Any = sent
        for step in path:
            try:
                here = here[step]
            except (KeyError, IndexError, TypeError):
                return False
        return here is not None if equals is ... else here == equals

    return probe


def either(*probes: Probe) -> Probe:
    return lambda sent: any(probe(sent) for probe in probes)


def both(*probes: Probe) -> Probe:
    return lambda sent: all(probe(sent) for probe in probes)


@dataclass
class Feature:
    """``asks`` are members of a client's request; ``found`` looks for them in a vendor's."""

    name: str
    asks: Mapping[str, Json]
    found: Mapping[str, Probe]
    lost: tuple[str, ...] = field(default=())
    """Names in ``Losses`` for this feature, besides its own."""
