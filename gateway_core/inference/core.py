"""The collaborators of a running gateway, as fields and nothing else.

``tables`` is replaced whole when the stored configuration changes; a request
takes the picture it finds when it begins and keeps it to its end.
"""

from collections.abc import Awaitable, Callable

import msgspec

from ..config.data_dir import DataDir
from ..config.environment import Environment
from ..storage.stores import Stores
from .accounts import Turns
from .health import Health
from .ledger import Ledger
from .request_ids import RequestIds
from .strategies import Order
from .tables import Tables
from .transport import Network


class Core(msgspec.Struct, kw_only=True, dict=True):
    """Filled once by the composition root. Plugins get it for their routes and life cycle."""

    environment: Environment
    data_dir: DataDir
    stores: Stores
    tables: Tables
    network: Network
    health: Health
    turns: Turns
    order: Order
    ledger: Ledger
    clock: Callable[[], float]
    """Wall clock, seconds."""
    new_id: RequestIds
    """Gives each request its id."""
    whole_timeout: float
    """Seconds that an answer which is not streamed may take."""
    max_body: int
    """Largest request body of an inference route, bytes."""
    manifest: bytes = b""
    """The provider manifest, encoded once."""
    refresh: Callable[[], Awaitable[None]]
    """Takes a new picture of the stored configuration; to be awaited after a write."""
