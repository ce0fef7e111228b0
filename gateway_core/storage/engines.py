"""Engines besides SQLite: each is an entry point of the gateway's own distribution."""

from collections.abc import Awaitable, Callable
from importlib.metadata import PackageNotFoundError, distribution

from ..config.errors import DatabaseUnusable
from .database import Database

GROUP = "model_gateway_engines"
OpenDatabase = Callable[[str, str], Awaitable[Database]]
"""Connects to the database of a URL, for the gateway of that name. Raises DatabaseUnusable."""


def load_engine(name: str) -> OpenDatabase:
    """Import what opens databases of an engine. Raises DatabaseUnusable.

    Imported when it is used: an engine takes time and memory that SQLite has no need of.
    """
    try:
        installed = distribution("model-gateway").entry_points.select(group=GROUP)
        engine: OpenDatabase = installed[name].load()
    except (PackageNotFoundError, KeyError):
        raise DatabaseUnusable(f"This installation has no engine for {name} databases.") from None
    return engine
