"""Dashboard sessions: a signed token in a cookie, good for a day, until it is signed out of or
until the password changes.

```text
{authenticated: true, iat, exp, jti, passwordSessionEpoch?, oidc?: true, oidcName?, oidcEmail?}
HS256 over JWT_SECRET
```

Nothing is stored for a session while it lasts. The epoch is a random word in
the settings that every change of the password replaces; a token of another
epoch is worth nothing, and so is one whose session has been ended.
"""

import hashlib
import logging
import secrets
from collections import OrderedDict
from collections.abc import Callable, Container, Mapping
from typing import Any

from msgspec import Struct

from ..config.data_dir import DataDir
from ..config.environment import Environment
from ..contracts.errors import Unavailable
from .caller import Session
from .placeholders import begins_as_placeholder

LIFETIME = 24 * 3600
"""Seconds."""
SHORTEST_SECRET = 32
"""Bytes."""
LONGEST_TOKEN = 4096
ID_BYTES = 16
"""Random bytes that tell apart what is issued within one second."""
LONGEST_CLAIM = 200
"""Characters of a name or address that are kept; the rest is cut off."""
LEGACY_FILE = "jwt-secret"
ALGORITHM = "HS256"
KEPT = 256
"""Tokens that need not be verified again."""
CLOCK_SKEW = 60
"""Seconds that a token may seem to come from the future."""

log = logging.getLogger(__name__)


class NoSecret(Unavailable):
    """There is nothing to sign sessions with, so nobody can sign in."""

    def __init__(self) -> None:
        super().__init__(
            f"Set JWT_SECRET to a random text of at least {SHORTEST_SECRET} bytes "
            "and start the gateway again: without it nobody can sign in",
            code="no_jwt_secret",
        )


class _Verified(Struct, frozen=True):
    session: Session
    epoch: str | None


class Sessions:
    """Issues and reads tokens. ``epoch`` gives the one in force, ``clock`` Unix seconds, ``ended``
    the ids of sessions that are over."""

    def __init__(
        self,
        secret: str | None,
        epoch: Callable[[], str | None],
        clock: Callable[[], float],
        ended: Callable[[], Container[str]] = frozenset,
    ) -> None:
        self._secret = None if secret is None else secret.encode()
        self._epoch = epoch
        self._clock = clock
        self._ended = ended
        self._verified: OrderedDict[str, _Verified] = OrderedDict()

    def __repr__(self) -> str:
        return f"Sessions(ready={self.is_ready})"

    @property
    def is_ready(self) -> bool:
        """Whether there is a secret to sign with."""
        return self._secret is not None

    def check_ready(self) -> None:
        """Raises NoSecret."""
        if self._secret is None:
            raise NoSecret

    def issue(
        self, *, method: str = "password", name: str | None = None, email: str | None = None
    ) -> str:
        """A token of the epoch in force; ``method`` as in Session. Raises NoSecret."""
        now = int(self._clock())
        claims: dict[str, Any] = {"authenticated": True, "iat": now, "exp": now + LIFETIME}
        claims["jti"] = secrets.token_urlsafe(ID_BYTES)
        epoch = self._epoch()
        if epoch is not None:
            claims["passwordSessionEpoch"] = epoch
        if method == "oidc":
            claims["oidc"] = True
            claims["oidcName"] = (name or "")[:LONGEST_CLAIM]
            claims["oidcEmail"] = (email or "")[:LONGEST_CLAIM]
        # Most starts need no tokens, and the library takes long to load.
        from joserfc import jwt
        from joserfc.jwk import OctKey

        if self._secret is None:
            raise NoSecret
        key = OctKey.import_key(self._secret)
        return jwt.encode({"alg": ALGORITHM}, claims, key, algorithms=[ALGORITHM])

    def read(self, token: str) -> Session | None:
        """Who a token stands for; ``None`` for one that is not good, or is no longer."""
        verified = self._verified.get(token) or self._verify(token)
        if verified is None:
            return None
        session = verified.session
        is_late = session.expires_at <= self._clock()
        if is_late or verified.epoch != self._epoch() or session.id in self._ended():
            self._verified.pop(token, None)
            return None
        return session

    def _verify(self, token: str) -> _Verified | None:
        if self._secret is None or len(token) > LONGEST_TOKEN:
            return None
        from joserfc import jwt
        from joserfc.errors import JoseError
        from joserfc.jwk import OctKey

        try:
            key = OctKey.import_key(self._secret)
            decoded = jwt.decode(token, key, algorithms=[ALGORITHM])
        except (JoseError, ValueError, RecursionError):
            return None
        # RFC 7515, section 4.1.11: an extension that must be understood is not understood here.
        if "crit" in decoded.header:
            return None
        claims = decoded.claims
        issued, expires = _time(claims, "iat"), _time(claims, "exp")
        if claims.get("authenticated") is not True or issued is None or expires is None:
            return None
        if issued > self._clock() + CLOCK_SKEW:
            return None
        is_oidc = claims.get("oidc") is True
        name, email = claims.get("oidcName"), claims.get("oidcEmail")
        session = Session(
            method="oidc" if is_oidc else "password",
            name=str(name) if is_oidc and name else None,
            email=str(email) if is_oidc and email else None,
            expires_at=expires,
            id=id_of(token),
        )
        epoch = claims.get("passwordSessionEpoch")
        verified = _Verified(session, None if epoch is None else str(epoch))
        self._verified[token] = verified
        if len(self._verified) > KEPT:
            self._verified.popitem(last=False)
        return verified


def id_of(token: str) -> str:
    """The id of a token's session: made of what is signed, as nothing else in it is protected."""
    return hashlib.sha256(token.rpartition(".")[0].encode()).hexdigest()


def _time(claims: Mapping[str, Any], name: str) -> int | None:
    value = claims.get(name)
    return value if isinstance(value, int) and not isinstance(value, bool) else None


def jwt_secret(environment: Environment, data_dir: DataDir) -> str | None:
    """The secret that sessions are signed with, or ``None``. Raises DataDirUnusable.

    The variable counts, then a file that older installations have; neither is
    ever made here.
    """
    secret = _usable(environment.jwt_secret, "JWT_SECRET")
    if secret is not None:
        return secret
    legacy = data_dir.read(LEGACY_FILE)
    if legacy is None:
        return None
    place = f"{data_dir.path / LEGACY_FILE}"
    secret = _usable(legacy.decode("utf-8", "replace").strip(), place)
    if secret is not None:
        log.warning("Sessions are signed with %s; set JWT_SECRET and remove the file.", place)
    return secret


def _usable(secret: str | None, place: str) -> str | None:
    if not secret:
        return None
    if begins_as_placeholder(secret):
        log.warning("%s holds a placeholder from the documentation and is ignored.", place)
        return None
    if len(secret.encode()) < SHORTEST_SECRET:
        log.warning(
            "%s is shorter than %d bytes and is ignored; nobody can sign in without one.",
            place,
            SHORTEST_SECRET,
        )
        return None
    return secret
