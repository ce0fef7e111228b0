"""What the login of one gateway remembers. Nothing of it outlives the process."""

import time
from collections.abc import Callable

from msgspec import Struct

from gateway_core.identity.lockout import Lockout
from gateway_core.identity.oidc import Journey, Provider
from gateway_core.identity.passwords import Passwords
from gateway_core.identity.tickets import Tickets

PENDING_LIFETIME = 300.0
PROOF_LIFETIME = 300.0
MOST_PROOFS = 500
JOURNEY_LIFETIME = 600.0
DISCOVERY_LIFETIME = 300.0
"""Seconds, all of these but the proofs' number."""


class Pending(Struct, frozen=True):
    """Somebody who knew the password and still owes the second factor."""

    epoch: str | None
    """Of the password they knew."""


class Proof(Struct, frozen=True):
    """Somebody on this machine who knew the password that everybody knows."""

    address: str
    stored: str | None
    """The hash that was stored then."""


class LoginState:
    """Attempts, and those who are half-way in. ``monotonic`` gives seconds."""

    def __init__(self, monotonic: Callable[[], float] = time.monotonic) -> None:
        self.monotonic = monotonic
        self.passwords = Passwords()
        self.lockout = Lockout(monotonic)
        self.pending = Tickets[Pending](PENDING_LIFETIME, monotonic, size=16)
        self.proofs = Tickets[Proof](PROOF_LIFETIME, monotonic, most=MOST_PROOFS)
        self.journeys = Tickets[Journey](JOURNEY_LIFETIME, monotonic, size=16)
        self.providers: dict[str, tuple[float, Provider]] = {}
        """The last discovery by issuer, and until when it counts."""
