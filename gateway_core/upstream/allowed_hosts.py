"""Which origins a provider declares, and which ones an account names. Pure.

An origin is scheme, host and port as the transport reads them, never the text
of a URL: ``https://api.acme.com:443``.
"""

import re
from collections.abc import Mapping
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
    urls = [spec.base_url, *spec.base_urls, spec.responses_url, spec.models_url, spec.native_url]
    if (login := spec.oauth) is not None:
        urls += (login.authorize_url, login.token_url, login.device_url, login.revoke_url)
    sockets = (each.http_url for each in spec.sockets)
    hosts = (host if "://" in host else f"https://{host}" for host in spec.hosts)
    declared = [
        _TEMPLATE.sub("*", url)
        for url in (*urls, *spec.other_formats.values(), *hosts, *sockets)
        if url
    ]
    patterns = []
    for url in declared:
        front = _FRONT.match(url)
        # A wildcard in the last two labels would let a plugin send an account's secret to hosts
        # of other owners, so such a pattern covers nothing.
        if front is None or "*" not in front["host"] or not is_bounded(front["host"]):
            continue
        scheme, host = front["scheme"].lower(), front["host"].lower()
        # A wildcard is one label or a part of one: a dot is never matched.
        name = re.escape(host).replace(r"\*", "[a-z0-9-]+")
        patterns.append(re.compile(f"{scheme}://{name}:{front['port'] or _PORTS[scheme]}"))
    return AllowedHosts(
        origins=frozenset(filter(None, map(origin_of, declared))), patterns=tuple(patterns)
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
    for name, value in data.items():
        if not isinstance(value, str) or name.startswith(_PROXY):
            continue
        text = value.strip().strip("\"'")
        full = _FRONT.match(text)
        if full is not None:
            scheme: str = full["scheme"].lower()
            port = full["port"] or _PORTS[scheme]
            if url.scheme == scheme and _is_same(full["host"], port, url, text):
                return True
            continue
        # A base URL may be written without its scheme: ``box``, ``box:8000``, ``:8000``. Other
        # members may not, because any word in them would then name a host.
        simple = _SIMPLE.fullmatch(text) if name == BASE_URL and text else None
        if simple is not None:
            whole = f"{url.scheme}://{text}"
            if _is_same(simple["host"], simple["port"], url, whole):
                return True
    return False


def _is_same(host: str, port: str | None, url: Url, whole: str) -> bool:
    """Whether a host and port, cut from ``whole``, are the origin of a parsed URL."""
    if port is not None and int(port) != url.port:
        return False
    if host.strip("[]") in _EVERYWHERE:
        return url.host in _HERE
    if port is None:
        return origin_of(f"{url.scheme}://{host}:{url.port}") == url.origin
    return origin_of(whole) == url.origin
