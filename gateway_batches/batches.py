"""The batches of one running gateway: everything that routes and the background work share."""

from functools import partial
from weakref import WeakValueDictionary

from gateway_core.pipeline.context import Collaborators
from gateway_files.ids import SortableIds
from gateway_files.limits import open_store
from gateway_files.unfinished import FileLimits

from .folder import BatchFolder
from .pace import Pace
from .row_call import RowCalls
from .runner import RunContext
from .scheduler import Scheduler
from .settings import BatchSettings
from .store import BatchStore

PLUGIN = "batches"
_UNLIMITED = FileLimits(largest=2**62, quota=2**62, most=2**62)
"""Results are paid for: they are stored in any case, and then count as all files of their owner."""
_known: WeakValueDictionary[int, "Batches"] = WeakValueDictionary()
"""By the identity of their gateway, which lives as long as they do."""


class Batches:
    """Made once for a gateway, by ``batches_of``."""

    def __init__(self, core: Collaborators) -> None:
        self.core = core
        self.store = BatchStore(core.stores.database)
        self.files = open_store(core, lambda: _UNLIMITED)
        self.calls = RowCalls(core)
        self._ids = SortableIds(core.clock)
        settings = partial(settings_of, core)
        context = RunContext(
            core=core,
            store=self.store,
            calls=self.calls,
            pace=Pace(settings, self._interactive),
            settings=settings,
        )
        self.scheduler = Scheduler(context, self.files)

    def new_id(self, prefix: str) -> str:
        return self._ids.new(prefix)

    def folder(self, batch_id: str) -> BatchFolder:
        return BatchFolder(self.core.environment.files_path, batch_id)

    def _interactive(self) -> int:
        """Requests under way that are no rows of batches."""
        return len(self.core.in_flight) - self.calls.running


def settings_of(core: Collaborators) -> BatchSettings:
    """The settings in force."""
    found = core.plugin_settings.current(PLUGIN)
    return found if isinstance(found, BatchSettings) else BatchSettings()


def batches_of(core: Collaborators) -> Batches:
    """The batches of a gateway, the same for everything in it. Raises OSError."""
    batches = _known.get(id(core))
    if batches is None:
        batches = _known[id(core)] = Batches(core)
    return batches
