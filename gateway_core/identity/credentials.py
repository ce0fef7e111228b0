"""From the headers of a request to its caller: keys, the command line's token, the session.

A key is looked for in this order: ``Authorization: Bearer``, ``x-api-key``,
``x-alt-api-key`` (also by its name in the wild, ``x-goog-api-key``) and the
query parameter ``key``. Each is tried whole; the first good one counts.
"""

import hashlib
import hmac
from collections.abc import Callable, Iterable, Mapping, MutableMapping
from http.cookies import CookieError, SimpleCookie
from typing import Any
from urllib.parse import parse_qsl, urlsplit

from msgspec import Struct

from ..config.settings import Settings
from ..contracts.errors import Forbidden, InvalidKey, MissingKey
from .caller import Caller, Session
from .keys import Key, KeyTable, by_header
from .peers import Peer, host_of, host_of_url, is_local

CLI_HEADER = "x-gateway-cli-token"
CLI_SALT = "gateway-cli-auth"
CLI_LENGTH = 16
COOKIE = "auth_token"
LONGEST_TOKEN = 4096
MOST_KEYS = 8
"""Candidates of one request that are looked at."""
CALLER = "model_gateway.caller"
"""Key of the scope under which the application keeps the caller."""
_SAFE_SITES = ("same-origin", "none")

ReadSession = Callable[[str], Session | None]


def cli_token(raw_machine_id: str, cli_secret: str) -> str:
    """What the command line shows to its own gateway."""
    text = f"{raw_machine_id}{CLI_SALT}{cli_secret}"
    return hashlib.sha256(text.encode()).hexdigest()[:CLI_LENGTH]


class Identity(Struct, frozen=True, kw_only=True):
    """What callers are compared with."""

    keys: KeyTable
    cli_token: str
    read_session: ReadSession
    clock: Callable[[], float]
    public_origin: str = ""
    """Scheme, host and port; empty when none is configured."""

    def client(
        self, scope: MutableMapping[str, Any], headers: Mapping[str, str], peer: Peer
    ) -> Caller:
        """The caller of a client route, where sessions do not count."""
        key, was_refused, has_shown = self._key(scope, headers)
        return Caller(
            peer=peer,
            is_local=is_local(peer, headers, self.public_origin),
            key=key,
            was_refused=was_refused,
            has_shown=has_shown,
            is_cli=self._is_cli(headers),
        )

    def operator(
        self,
        scope: MutableMapping[str, Any],
        headers: Mapping[str, str],
        peer: Peer,
        settings: Settings,
    ) -> Caller:
        """The caller of any other route."""
        key, was_refused, has_shown = self._key(scope, headers)
        local = is_local(peer, headers, self.public_origin)
        token = cookie(headers, COOKIE) or ""
        is_closed = not settings.tunnel_dashboard_access and is_tunnel(headers, settings)
        is_token = 0 < len(token) <= LONGEST_TOKEN and not is_closed
        return Caller(
            peer=peer,
            is_local=local,
            key=key,
            was_refused=was_refused,
            has_shown=has_shown,
            is_cli=self._is_cli(headers),
            session=self.read_session(token) if is_token else None,
            is_open=local and not settings.require_login,
        )

    def _key(
        self, scope: Mapping[str, Any], headers: Mapping[str, str]
    ) -> tuple[Key | None, bool, bool]:
        """The first good key, whether a saved one was refused, whether any was shown."""
        was_refused = has_shown = False
        for count, text in enumerate(_candidates(scope, headers)):
            if count >= MOST_KEYS:
                break
            has_shown = True
            key = self.keys.find(text)
            if key is None:
                continue
            if key.is_good(self.clock()):
                return key, False, True
            was_refused = True
        return None, was_refused, has_shown

    def _is_cli(self, headers: Mapping[str, str]) -> bool:
        shown = headers.get(CLI_HEADER)
        return shown is not None and hmac.compare_digest(
            shown.encode("latin-1", "replace"), self.cli_token.encode()
        )


def is_tunnel(headers: Mapping[str, str], settings: Settings) -> bool:
    """Whether a request was sent to the tunnel's name."""
    host = host_of(headers.get("host", ""))
    tunnels = (settings.tunnel_url, settings.tailscale_url)
    return bool(host) and host in {host_of_url(url) for url in tunnels}


def cookie(headers: Mapping[str, str], name: str) -> str | None:
    """One cookie of a request."""
    text = headers.get("cookie")
    if not text or name not in text:
        return None
    try:
        morsel = SimpleCookie(text).get(name)
    except CookieError:
        return None
    return None if morsel is None else morsel.value


def _candidates(scope: Mapping[str, Any], headers: Mapping[str, str]) -> Iterable[str]:
    yield from by_header(headers)
    query: bytes = scope.get("query_string", b"")
    if b"key=" in query:
        for name, value in parse_qsl(query.decode("latin-1")):
            if name == "key" and value:
                yield value


def check_key(caller: Caller, *, required: bool) -> None:
    """Refuse a caller of a client route (5.1). Raises MissingKey, InvalidKey.

    A saved key that is paused or expired is refused even where none is needed.
    """
    if caller.key is not None or caller.is_cli:
        return
    if caller.was_refused:
        raise InvalidKey
    if required or not caller.is_local:
        raise InvalidKey if caller.has_shown else MissingKey


def is_same_origin(headers: Mapping[str, str], own: str, *, needed: bool = False) -> bool:
    """Whether a page of the gateway itself asks, or no page at all.

    ``own`` is the gateway's origin as this request reached it; with ``needed``
    the request must say where it comes from.
    """
    origin = headers.get("origin")
    if origin is not None:
        return origin_of(origin) == own and bool(own)
    if needed:
        return False
    return headers.get("sec-fetch-site", "none") in _SAFE_SITES


def check_origin(caller: Caller, headers: Mapping[str, str], own: str) -> None:
    """Refuse a page of another site that uses the operator's cookie. Raises Forbidden."""
    by_cookie = caller.session is not None and not caller.is_cli
    if by_cookie and not is_same_origin(headers, own):
        raise Forbidden("Requests from another origin are not accepted", code="foreign_origin")


def origin_of(url: str) -> str:
    """Scheme, host and port of a URL in one spelling; empty when it has none."""
    try:
        parts = urlsplit(url.strip())
        port = parts.port
    except ValueError:
        return ""
    if parts.scheme not in ("http", "https") or not parts.hostname or parts.username is not None:
        return ""
    usual = 443 if parts.scheme == "https" else 80
    host = f"[{parts.hostname}]" if ":" in parts.hostname else parts.hostname
    return f"{parts.scheme}://{host}:{port or usual}"


def own_origin(scope: Mapping[str, Any], headers: Mapping[str, str], configured: str) -> str:
    """The gateway's origin: the configured one, else what this request was sent to."""
    if configured:
        return origin_of(configured)
    # A page that opens a WebSocket has the origin of its document: RFC 6455, section 10.2.
    scheme = str(scope.get("scheme", "http")).replace("ws", "http")
    return origin_of(f"{scheme}://{headers.get('host', '')}")
