"""What a worker process knows of its place among the others."""

from collections.abc import Callable

from msgspec import Struct


class Place(Struct, frozen=True, kw_only=True):
    """What a worker is told when it begins."""

    number: int
    """Counted from 0."""
    workers: int
    parent: int
    """A descriptor that can be read when the parent is gone."""
    is_first: bool
    """This worker opens the data, and nobody else does until it is ready."""
    ready: Callable[[], None]
    """To be called once the worker serves."""
