"""The collaborators of a running gateway, and the little of it that changes while it runs."""

from collections.abc import Awaitable, Callable
from typing import TYPE_CHECKING, Any

import msgspec

from ..config.data_dir import DataDir
from ..config.environment import Environment
from ..contracts.provider import ProviderSpec
from ..identity.credentials import Identity
from ..identity.sessions import Sessions
from ..metering.in_flight import InFlight
from ..metering.ledger import Ledger
from ..metering.limits import KeyLimits
from ..metering.prices import Prices
from ..metering.request_ids import RequestIds
from ..metering.request_log import RequestLog
from ..plugins import PluginSettings
from ..plugins.registry import Registry
from ..routing.account_selection import RoundRobin
from ..routing.cooldowns import Cooldowns
from ..routing.provider_limits import ProviderLimits
from ..routing.snapshot import Account, ConfigSnapshot
from ..routing.strategies import MemberOrder
from ..storage.stores import Stores
from ..upstream.egress_policy import EgressPolicy
from ..upstream.reachability import Reachability
from ..upstream.transport import Network
from .body_memory import BodyMemory
from .interceptors import Interceptors

if TYPE_CHECKING:
    from .filtering import Filtering
    from .group_limits import GroupLimits
    from .request_head import RequestHead
    from .request_run import RequestRun


class RuntimeState(msgspec.Struct, kw_only=True):
    """What changes while a gateway runs."""

    snapshot: ConfigSnapshot
    """Replaced whole when the configuration changes; a request keeps the one it began with."""
    is_full: bool = False
    """Memory is short: new inference requests are refused with 503."""
    is_draining: bool = False
    """A stop was requested: new requests are better sent elsewhere."""
    is_stopping: bool = False
    """The time of running requests is up: one that is cancelled says so to its client."""
    filtering: "Filtering | None" = None
    """Shows answers to the filters that plugins brought; ``None`` without any."""
    group_limits: "GroupLimits | None" = None
    """Knows the limits that keys have in common; ``None`` without any."""
    renew_login: "Callable[[ProviderSpec, Account], Awaitable[Account | None]] | None" = None
    """Gives an account with a newer token than one that was refused, if there can be one."""


class Collaborators(msgspec.Struct, frozen=True, kw_only=True):
    """Complete when made, by ``Gateway.open``. Trusted plugins get it by way of their ``Host``."""

    state: RuntimeState
    environment: Environment
    data_dir: DataDir
    stores: Stores
    network: Network
    cooldowns: Cooldowns
    round_robin: RoundRobin
    provider_limits: ProviderLimits
    order: MemberOrder
    ledger: Ledger
    prices: Prices
    limits: KeyLimits
    in_flight: InFlight
    request_log: RequestLog
    body_memory: BodyMemory
    identity: Identity
    sessions: Sessions
    egress_policy: EgressPolicy
    """Where the requests of each provider may go."""
    reachability: Reachability
    """Which servers without a key are there."""
    interceptors: Interceptors
    new_run: "Callable[[Collaborators, RequestHead], RequestRun]"
    """Makes the run of a request."""
    run_type: Callable[[type[Any]], type[Any]]
    """The class of runs that takes the place of another where requests are followed."""
    plugin_settings: PluginSettings
    """The current settings of plugins."""
    clock: Callable[[], float]
    """Wall clock, seconds."""
    new_id: RequestIds
    """Gives each request its id."""
    whole_timeout: float
    """Seconds that an answer which is not streamed may take."""
    max_body: int
    """Largest request body of an inference route, bytes."""
    shares_data: bool = False
    """Other workers use the same data directory."""
    amend: Callable[[Callable[[Registry], Registry]], None]
    """Changes what is known of the plugins."""
    refresh: Callable[[], Awaitable[None]]
    """Reads the stored configuration again; to be awaited after a write."""

    @property
    def shares_database(self) -> bool:
        """Other processes may use the same database."""
        return self.shares_data or self.stores.database.engine == "postgres"

    @property
    def snapshot(self) -> ConfigSnapshot:
        """The configuration in force."""
        return self.state.snapshot
