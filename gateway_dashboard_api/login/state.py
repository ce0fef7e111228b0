"""What the login of one gateway remembers: attempts in the process, tickets in the database."""

import time
from collections.abc import Callable

from msgspec import Struct

from gateway_core.identity.oidc import Journey, Provider
from gateway_core.identity.passwords import Passwords
from gateway_core.pipeline.context import Core
from gateway_core.storage.stores.tickets import Purpose

from .attempts import Attempts
from .tickets import SealedTickets, Tickets

PENDING = Purpose(name="pending", lifetime=300.0)
PROOF = Purpose(name="proof", lifetime=300.0, most=500)
JOURNEY = Purpose(name="journey", lifetime=600.0)
DISCOVERY_LIFETIME = 300.0
"""Seconds."""


class PendingLogin(Struct, frozen=True):
    """Somebody who knew the password and still owes the second factor."""

    epoch: str | None
    """Of the password they knew."""


class PasswordProof(Struct, frozen=True):
    """Somebody on this machine who knew the password that everybody knows."""

    address: str
    stored: str | None
    """The hash that was stored then."""


class LoginState:
    """Attempts, and those who are half-way in. ``monotonic`` gives seconds."""

    def __init__(self, core: Core, monotonic: Callable[[], float] = time.monotonic) -> None:
        self.monotonic = monotonic
        self.passwords = Passwords()
        self.lockout = Attempts(core, monotonic)
        self.pending = Tickets(core, PendingLogin, PENDING, size=16)
        self.proofs = Tickets(core, PasswordProof, PROOF)
        self.journeys = SealedTickets(core, Journey, JOURNEY, size=16)
        self.providers: dict[str, tuple[float, Provider]] = {}
        """The last discovery by issuer, and until when it counts."""
