"""State of the login of one gateway: attempts, tickets and discovered providers."""

import time
from collections.abc import Callable

from msgspec import Struct

from gateway_administration.stores import AdminStores
from gateway_administration.stores.tickets import Purpose
from gateway_core.pipeline.context import Collaborators

from ..tickets import SealedTickets, Tickets
from .attempts import Attempts
from .oidc_protocol import Journey, Provider
from .password_hashes import Passwords

PENDING = Purpose(name="pending", lifetime=300.0)
PROOF = Purpose(name="proof", lifetime=300.0, most=500)
JOURNEY = Purpose(name="journey", lifetime=600.0)
DISCOVERY_LIFETIME = 300.0
"""Seconds."""


class PendingLogin(Struct, frozen=True):
    """A login that has the password and lacks the second factor."""

    epoch: str | None
    """The epoch of the verified password."""


class PasswordProof(Struct, frozen=True):
    """A local caller who knew the published default password."""

    address: str
    stored: str | None
    """The password hash that was stored then."""


class LoginState:
    """Attempts and pending logins. ``monotonic`` returns seconds."""

    def __init__(
        self,
        core: Collaborators,
        stores: AdminStores,
        monotonic: Callable[[], float] = time.monotonic,
    ) -> None:
        self.monotonic = monotonic
        self.passwords = Passwords()
        self.lockout = Attempts(core, stores.lockouts, monotonic)
        self.pending = Tickets(core, PendingLogin, PENDING, size=16)
        self.proofs = Tickets(core, PasswordProof, PROOF)
        self.journeys = SealedTickets(core, Journey, JOURNEY, size=16)
        self.providers: dict[str, tuple[float, Provider]] = {}
        """By issuer: until when its discovery is cached, and the result."""
