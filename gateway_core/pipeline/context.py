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
from ..metering.in_flight import InFlight
from ..metering.ledger import Ledger
from ..metering.limits import KeyLimits
from ..metering.request_ids import RequestIds
from ..metering.request_log import RequestLog
from ..plugins import PluginSettings
from ..plugins.registry import Registry
from ..routing.account_selection import RoundRobin
from ..routing.cooldowns import Cooldowns
from ..routing.snapshot import ConfigSnapshot
from ..routing.strategies import MemberOrder
from ..storage.stores import Stores
from ..upstream.egress_policy import EgressPolicy
from ..upstream.transport import Network
from .interceptors import Interceptors


class Core(msgspec.Struct, kw_only=True, dict=True):
    """Filled once by the composition root. Trusted plugins get it, by way of their ``Host``."""

    environment: Environment
    data_dir: DataDir
    stores: Stores
    snapshot: ConfigSnapshot
    network: Network
    cooldowns: Cooldowns
    round_robin: RoundRobin
    order: MemberOrder
    ledger: Ledger
    limits: KeyLimits
    in_flight: InFlight
    request_log: RequestLog
    identity: Identity
    sessions: Sessions
    egress_policy: EgressPolicy = msgspec.field(default_factory=EgressPolicy)
    """Where the calls of each provider may go."""
    interceptors: Interceptors = msgspec.field(default_factory=Interceptors)
    plugin_settings: PluginSettings = msgspec.field(default_factory=PluginSettings)
    """What the settings of plugins are now."""
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
    shares_data: bool = False
    """Other processes use the same database."""
    is_full: bool = False
    """Memory is short: new inference requests are told to come back."""
    is_stopping: bool = False
    """The time of running requests is up: one that is cancelled says so to its client."""
    amend: Callable[[Callable[[Registry], Registry]], None] = lambda change: None
    """Changes what is known of the plugins."""
    refresh: Callable[[], Awaitable[None]]
    """Takes a new picture of the stored configuration; to be awaited after a write."""
