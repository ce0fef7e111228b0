"""The process variables about the proxy that calls go through where none is configured."""

import re
from collections.abc import Mapping
from typing import Annotated

from msgspec import Struct

from .variable import TEXT, Reading, variable

_SHAPE = re.compile(r"(?:https?|socks5h?)://(?:[^@/?#\s]*@)?[^@/?#\\\s]+/?", re.IGNORECASE)


def read_proxy_url(text: str) -> str:
    # curl takes an address without a scheme for an HTTP proxy's: https://curl.se/docs/manpage.html#-x
    url = text if "://" in text else f"http://{text}"
    if not _SHAPE.fullmatch(url):
        raise ValueError("no proxy's address")
    return url


PROXY_URL = Reading("the URL of an http, https, socks5 or socks5h proxy", read_proxy_url)


class ProxyVariables(Struct, frozen=True, kw_only=True):
    """Each is read in small letters too, which win."""

    https_proxy: Annotated[
        str | None,
        variable(
            "HTTPS_PROXY",
            "The proxy for calls to https addresses, unless a proxy pool, an account or the "
            "setting outboundProxyUrl names another one. Addresses of this machine are always "
            "called directly.",
            PROXY_URL,
            secret=True,
        ),
    ] = None
    http_proxy: Annotated[
        str | None,
        variable(
            "HTTP_PROXY",
            "The same for calls to plain http addresses; such a proxy sees their credentials.",
            PROXY_URL,
            secret=True,
        ),
    ] = None
    all_proxy: Annotated[
        str | None,
        variable(
            "ALL_PROXY",
            "The same for calls for which the one of the two is unset.",
            PROXY_URL,
            secret=True,
        ),
    ] = None
    no_proxy: Annotated[
        str | None,
        variable(
            "NO_PROXY",
            "Hosts that are called without these proxies, with commas between: names, which take "
            "their subdomains too, addresses, networks such as 10.0.0.0/8, or * for all.",
            TEXT,
        ),
    ] = None


_NAMES = ("HTTPS_PROXY", "HTTP_PROXY", "ALL_PROXY", "NO_PROXY")


def in_capitals(variables: Mapping[str, str]) -> Mapping[str, str]:
    """The variables, with these four under their names in capitals."""
    small = {name: variables[name.lower()] for name in _NAMES if name.lower() in variables}
    return {**variables, **small}
