"""What a worker process knows about itself and the others."""

from collections.abc import Callable

from msgspec import Struct


class WorkerInfo(Struct, frozen=True, kw_only=True):
    """The arguments of a worker process."""

    number: int
    """Counted from 0."""
    workers: int
    parent: int
    """A descriptor that becomes readable when the parent process ends."""
    is_first: bool
    """This worker opens the data; the others start after it is ready."""
    report_ready: Callable[[], None]
    """Called once the worker serves."""
