"""Who asks, as far as a route needs to know."""

from msgspec import Struct

from .keys import Key
from .peers import Peer


class Session(Struct, frozen=True, kw_only=True):
    """A person who has logged in at the dashboard."""

    method: str = "password"
    """``password`` or ``oidc``."""
    name: str | None = None
    email: str | None = None
    expires_at: int = 0
    """Unix seconds."""
    id: str = ""
    """Tells its token from all others, and gives nothing of it away."""


class Caller(Struct, frozen=True, kw_only=True):
    """One caller. Nobody looks at headers again to find out who asks."""

    peer: Peer
    is_local: bool = False
    """Proven to be on this machine."""
    key: Key | None = None
    """The gateway key that was shown, if it is good."""
    was_refused: bool = False
    """A key was shown that is saved, but paused or expired."""
    has_shown: bool = False
    """A key of whatever worth was shown."""
    is_cli: bool = False
    session: Session | None = None
    is_open: bool = False
    """On this machine while requireLogin is off."""

    @property
    def is_operator(self) -> bool:
        """Sees what an API key may not: a session, the command line or the open dashboard."""
        return self.session is not None or self.is_cli or self.is_open

    @property
    def actor(self) -> str:
        """The words for the audit trail."""
        if self.session is not None:
            return f"session:{self.session.name or self.session.method}"
        if self.is_cli:
            return "cli"
        if self.key is not None:
            return f"key:{self.key.id}"
        return "local" if self.is_local else "anonymous"
