"""What the files of an owner may take, and the one store of a running gateway."""

from weakref import WeakValueDictionary

from gateway_core.pipeline.context import Collaborators

from .store import FileLimits, FileStore

_stores: WeakValueDictionary[int, FileStore] = WeakValueDictionary()
"""By the identity of their gateway, which lives as long as its store does."""


def store_of(core: Collaborators) -> FileStore:
    """The store of a gateway, the same for everything in it. Raises OSError."""
    store = _stores.get(id(core))
    if store is None:
        store = FileStore(core.data_dir.path, lambda: limits_of(core), core.clock)
        _stores[id(core)] = store
    return store


def limits_of(core: Collaborators) -> FileLimits:
    """Process variables win over settings."""
    environment, settings = core.environment, core.snapshot.settings
    return FileLimits(
        largest=environment.max_file_bytes or settings.max_file_bytes,
        quota=environment.file_quota_bytes or settings.file_quota_bytes,
        most=environment.max_files_per_key or settings.max_files_per_key,
    )
