"""Access tokens for service accounts: fetched once, kept until they are about to expire.

The vendor's protocol: https://developers.google.com/identity/protocols/oauth2/service-account
"""

import asyncio
import hashlib
from collections.abc import Callable
from urllib.parse import urlencode
from weakref import WeakValueDictionary

import msgspec
from msgspec import Struct

from gateway_core import Transport, UpstreamError, UpstreamRequest

from .accounts import ServiceAccount

SCOPE = "https://www.googleapis.com/auth/cloud-platform"
GRANT = "urn:ietf:params:oauth:grant-type:jwt-bearer"
LIFETIME = 3600
"""Of what we sign, seconds."""
MARGIN = 60
"""A token is renewed so many seconds before it expires."""
LONGEST_ANSWER = 64 * 1024


class Token(Struct, frozen=True):
    text: str
    until: float
    """On the cache's clock."""

    def __repr__(self) -> str:
        return f"Token(until={self.until})"


class Granted(Struct, frozen=True):
    access_token: str
    expires_in: float = LIFETIME


class Denied(Struct, frozen=True):
    error: str = ""
    error_description: str = ""


class Tokens:
    """One token for each key: a service account with a new key is a new entry."""

    def __init__(self, clock: Callable[[], float]) -> None:
        self._clock = clock
        self._held: dict[str, Token] = {}
        # A lock lives only as long as somebody waits for it, so none outlives its event loop.
        self._locks: WeakValueDictionary[str, asyncio.Lock] = WeakValueDictionary()

    async def token(self, account: ServiceAccount, transport: Transport) -> str:
        """A token that is good for a while. However many ask at once, one goes to fetch it.

        Raises UpstreamError.
        """
        name = fingerprint(account)
        current = self._good(name)
        if current is not None:
            return current
        lock = self._locks.setdefault(name, asyncio.Lock())
        async with lock:
            # Another task may have fetched the token while this one waited for the lock.
            if current := self._good(name):
                return current
            now = self._clock()
            granted = await fetch(account, now, transport)
            unexpired = {key: token for key, token in self._held.items() if token.until > now}
            self._held = {**unexpired, name: Token(granted.access_token, now + granted.expires_in)}
            return granted.access_token

    def forget(self, account: ServiceAccount) -> None:
        """The vendor no longer takes this account's token."""
        self._held.pop(fingerprint(account), None)

    def _good(self, name: str) -> str | None:
        token = self._held.get(name)
        if token is None or self._clock() >= token.until - MARGIN:
            return None
        return token.text


def fingerprint(account: ServiceAccount) -> str:
    words = (account.client_email, account.private_key, account.token_uri)
    return hashlib.sha256("\0".join(words).encode()).hexdigest()


async def fetch(account: ServiceAccount, now: float, transport: Transport) -> Granted:
    """Trade a signed statement for an access token. Raises UpstreamError."""
    # The first signature imports the signer, which takes a quarter of a second.
    signed = await asyncio.to_thread(statement, account, int(now))
    response = await transport.send(
        UpstreamRequest(
            url=account.token_uri,
            headers={"content-type": "application/x-www-form-urlencoded"},
            body=urlencode({"grant_type": GRANT, "assertion": signed}).encode(),
        )
    )
    body = b""
    try:
        while len(body) <= LONGEST_ANSWER and (piece := await response.next()):
            body += piece
    finally:
        await response.aclose()
    if response.status != 200:
        raise denied(response.status, body)
    try:
        return msgspec.json.decode(body, type=Granted)
    except msgspec.MsgspecError:
        raise UpstreamError("Google Cloud answered a sign-in with something else") from None


def statement(account: ServiceAccount, now: int) -> str:
    """Who we are and what we want, signed with the account's key. Raises UpstreamError."""
    from google.auth import crypt, jwt

    claims = {
        "iss": account.client_email,
        "scope": SCOPE,
        "aud": account.token_uri,
        "iat": now,
        "exp": now + LIFETIME,
    }
    key, key_id = account.private_key, account.private_key_id
    try:
        # The library annotates only half of what it offers.
        signer = crypt.RSASigner.from_string(key, key_id)  # type: ignore[no-untyped-call]
        signed: bytes = jwt.encode(signer, claims)  # type: ignore[no-untyped-call]
    except (ValueError, TypeError):
        # The library's own words are not passed on: they may quote the key.
        message = "The service account's private key cannot be used"
        raise UpstreamError(message, status=401) from None
    return signed.decode()


def denied(status: int, body: bytes) -> UpstreamError:
    """Why there is no token; the account is at fault for anything but haste or an outage."""
    try:
        denial = msgspec.json.decode(body, type=Denied)
    except msgspec.MsgspecError:
        denial = Denied()
    reason = denial.error_description or denial.error or f"status {status}"
    is_ours = 400 <= status < 500 and status != 429
    return UpstreamError(
        f"Google Cloud refused to sign in: {reason}",
        status=401 if is_ours else status,
        code=denial.error or None,
    )
