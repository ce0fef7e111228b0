"""What the files of an owner may take, and the one store of a running gateway."""

from collections.abc import Callable
from weakref import WeakValueDictionary

from gateway_core.pipeline.context import Collaborators

from .exclusion import exclusion_of
from .kept_elsewhere import AnyStore, KeptElsewhere
from .store import FileStore
from .unfinished import FileLimits

_stores: WeakValueDictionary[int, AnyStore] = WeakValueDictionary()
"""By the identity of their gateway, which lives as long as its store does."""


def store_of(core: Collaborators) -> AnyStore:
    """The store of a gateway, the same for everything in it. Raises OSError."""
    store = _stores.get(id(core))
    if store is None:
        store = _stores[id(core)] = open_store(core, lambda: limits_of(core))
    return store


def open_store(core: Collaborators, limits: Callable[[], FileLimits]) -> AnyStore:
    """A store of the gateway's files; to be called in the event loop. Raises OSError."""
    contents = core.snapshot.registry.file_contents
    if contents is not None:
        return KeptElsewhere(contents, core.stores.database, limits, core.clock)
    return FileStore(core.environment.files_path, limits, core.clock, exclusion_of(core))


def limits_of(core: Collaborators) -> FileLimits:
    """Process variables win over settings."""
    environment, settings = core.environment, core.snapshot.settings
    return FileLimits(
        largest=environment.max_file_bytes or settings.max_file_bytes,
        quota=environment.file_quota_bytes or settings.file_quota_bytes,
        most=environment.max_files_per_key or settings.max_files_per_key,
    )
