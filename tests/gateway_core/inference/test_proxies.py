"""Which proxy a call goes through."""

from typing import Any

import pytest

from gateway_core.config.settings import Settings, read_settings
from gateway_core.inference.proxies import LOST, Proxy, proxy_for, proxy_of

GENERAL = {"outboundProxyEnabled": True, "outboundProxyUrl": "http://p", "outboundNoProxy": "x.y"}
OWN = {"connectionProxyEnabled": True, "connectionProxyUrl": "http://own"}


@pytest.mark.parametrize(
    ("data", "settings", "expected"),
    [
        ({}, {}, None),
        ({}, GENERAL, Proxy("http://p", "x.y")),
        (OWN, GENERAL, Proxy("http://own")),
        ({**OWN, "connectionNoProxy": "a.b"}, {}, Proxy("http://own", "a.b")),
        ({**OWN, "connectionProxyEnabled": False}, {}, None),
        ({}, {**GENERAL, "outboundProxyEnabled": False}, None),
    ],
    ids=["none", "general", "own first", "own", "own off", "general off"],
)
def test_an_accounts_own_proxy_comes_first(
    data: dict[str, Any], settings: dict[str, Any], expected: Proxy | None
) -> None:
    assert proxy_of(data, read_settings(settings)) == expected


def test_a_proxy_whose_address_is_lost_is_not_gone_around() -> None:
    assert proxy_of({}, Settings(outbound_proxy_enabled=True, invalid=("outboundProxyUrl",))) == (
        Proxy(LOST)
    )


@pytest.mark.parametrize(
    ("url", "proxied"),
    [
        ("https://api.example/v1", True),
        ("https://a.x.y/v1", False),
        ("https://X.Y:8443/", False),
        ("https://ax.y/", True),
        ("http://localhost:1", False),
        ("http://127.3.2.1", False),
        ("http://[::1]:80/", False),
    ],
)
def test_exempt_hosts_and_loopback_are_called_directly(url: str, proxied: bool) -> None:
    assert (proxy_for(Proxy("http://p", " .x.y , "), url) is not None) is proxied
    assert proxy_for(Proxy("http://p", "*"), url) is None
    assert proxy_for(None, url) is None
