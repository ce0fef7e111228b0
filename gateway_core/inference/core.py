"""The collaborators of a running gateway, as fields and nothing else.

``tables`` is replaced whole when the stored configuration changes; a request
takes the picture it finds when it begins and keeps it to its end.
"""

from collections.abc import Awaitable, Callable

import msgspec

from ..config.data_dir import DataDir
from ..config.environment import Environment
from ..identity.credentials import Identity
from ..identity.sessions import Sessions
from ..storage.stores import Stores
from .accounts import Turns
from .health import Health
from .in_flight import InFlight
from .ledger import Ledger
from .limits import Limits
from .observing import Observing
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
    limits: Limits
    in_flight: InFlight
    observing: Observing
    identity: Identity
    sessions: Sessions
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
    is_full: bool = False
    """Memory is short: new inference requests are told to come back."""
    is_stopping: bool = False
    """The time of running requests is up: one that is cancelled says so to its client."""
    refresh: Callable[[], Awaitable[None]]
    """Takes a new picture of the stored configuration; to be awaited after a write."""
