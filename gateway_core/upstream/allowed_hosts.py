"""Which origins a provider declares, and which ones an account names. Pure.

An origin is scheme, host and port as the transport reads them, never the text
of a URL: ``https://api.acme.com:443``.
"""

import re
from collections.abc import Iterator, Mapping
from typing import Any

from msgspec import Struct

from ..contracts.provider import ProviderSpec
from ..plugins.validation import is_bounded
from .transport import MalformedUrl
from .transport.urls import Url, parse

BASE_URL = "baseUrl"
_PROXY = "connectionProxy"
"""What the members of an account's data begin with that are about its proxy, not its vendor."""
_FRONT = re.compile(r"(?i)(?P<scheme>https?)://(?P<host>\[[^\]]*\]|[^/?#:]*)(?::(?P<port>\d+))?")
_SIMPLE = re.compile(r"(?P<host>\[[^\]]*\]|[^/:]*)(?::(?P<port>\d+))?(?:/.*)?")
_TEMPLATE = re.compile(r"\{[^{}/]*\}")
_PORTS = {"http": "80", "https": "443"}
_EVERYWHERE = ("", "0.0.0.0", "::")
"""What a server listens on; to be called it is this machine."""
_HERE = frozenset({"localhost", "127.0.0.1", "::1"})


class AllowedHosts(Struct, frozen=True):
    """The origins a provider declares; ``patterns`` are for those with a ``*`` in them."""

    origins: frozenset[str] = frozenset()
    patterns: tuple[re.Pattern[str], ...] = ()

    def covers(self, origin: str) -> bool:
        return origin in self.origins or any(each.fullmatch(origin) for each in self.patterns)


def allowed_hosts(spec: ProviderSpec) -> AllowedHosts:
    """Every address that a provider declares; a template stands for one label, or a part of it."""
    declared = [_TEMPLATE.sub("*", url) for url in _urls(spec)]
    return AllowedHosts(
        origins=frozenset(filter(None, map(origin_of, declared))),
        patterns=tuple(pattern for url in declared for pattern in _pattern(url)),
    )


def origin_of(url: str) -> str:
    """The origin of a URL, whatever its path; empty for what is no address."""
    front = _FRONT.match(url)
    try:
        return parse(front[0]).origin if front and "*" not in front[0] else ""
    except MalformedUrl:
        return ""


def is_named(url: Url, data: Mapping[str, Any]) -> bool:
    """Whether an account's data names this origin, as the operator has written it there."""
    return any(
        _names(name, value.strip().strip("\"'"), url)
        for name, value in data.items()
        if isinstance(value, str) and not name.startswith(_PROXY)
    )


def _urls(spec: ProviderSpec) -> Iterator[str]:
    login = () if spec.oauth is None else (spec.oauth.authorize_url, spec.oauth.token_url)
    urls = (spec.base_url, *spec.base_urls, spec.responses_url, spec.models_url, *login)
    yield from filter(None, (*urls, *spec.other_formats.values()))
    for host in spec.hosts:
        yield host if "://" in host else f"https://{host}"


def _pattern(url: str) -> Iterator[re.Pattern[str]]:
    front = _FRONT.match(url)
    if front is None or "*" not in front["host"] or not is_bounded(front["host"]):
        return
    scheme, host = front["scheme"].lower(), front["host"].lower()
    name = re.escape(host).replace(r"\*", "[a-z0-9-]+")
    yield re.compile(f"{scheme}://{name}:{front['port'] or _PORTS[scheme]}")


def _names(member: str, text: str, url: Url) -> bool:
    """A base URL may be written without its scheme: ``box``, ``box:8000``, ``:8000``."""
    full = _FRONT.match(text)
    if full is not None:
        scheme: str = full["scheme"].lower()
        port = full["port"] or _PORTS[scheme]
        return url.scheme == scheme and _is(full["host"], port, url, text)
    simple = _SIMPLE.fullmatch(text)
    if member != BASE_URL or not text or simple is None:
        return False
    return _is(simple["host"], simple["port"], url, f"{url.scheme}://{text}")


def _is(host: str, port: str | None, url: Url, whole: str) -> bool:
    if port is not None and int(port) != url.port:
        return False
    if host.strip("[]") in _EVERYWHERE:
        return url.host in _HERE
    if port is None:
        return origin_of(f"{url.scheme}://{host}:{url.port}") == url.origin
    return origin_of(whole) == url.origin
