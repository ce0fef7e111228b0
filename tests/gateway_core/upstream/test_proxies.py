"""Which proxy a call goes through."""

from typing import Any

import pytest

from gateway_core.config.environment import from_environ
from gateway_core.config.settings import Settings, read_settings
from gateway_core.storage.stores.proxy_pools import ProxyPool
from gateway_core.upstream.proxies import (
    LOST,
    Proxy,
    environment_proxy,
    general_proxy,
    proxy_for,
    proxy_of,
)

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
    assert proxy_of(data, {}, general_proxy(read_settings(settings))) == expected


def test_a_proxy_whose_address_is_lost_is_not_gone_around() -> None:
    lost = Settings(outbound_proxy_enabled=True, invalid=("outboundProxyUrl",))

    assert general_proxy(lost, Proxy("http://p")) == Proxy(LOST)


def pool(**more: Any) -> ProxyPool:
    usual = {
        "name": "office",
        "type": "http",
        "proxy_url": "http://pool",
        "no_proxy": "n.o",
        "is_active": True,
        "strict_proxy": False,
        **dict.fromkeys(("test_status", "last_tested_at", "last_error")),
        **dict.fromkeys(("created_at", "updated_at"), ""),
    }
    return ProxyPool(**{**usual, "id": "p", **more})


@pytest.mark.parametrize(
    ("changes", "expected"),
    [
        ({}, Proxy("http://pool", "n.o", strict=False)),
        ({"strict_proxy": True}, Proxy("http://pool", "n.o")),
        ({"type": "socks5", "proxy_url": "socks5://s"}, Proxy("socks5://s", "n.o", strict=False)),
        ({"is_active": False}, Proxy("http://own")),
        ({"is_active": False, "strict_proxy": True}, Proxy(LOST)),
        ({"broken": True, "proxy_url": ""}, Proxy(LOST)),
        ({"type": "vercel"}, Proxy(LOST)),
        ({"id": "other"}, Proxy(LOST)),
    ],
    ids=[
        *("usual", "strict", "socks", "inactive", "inactive and strict"),
        *("broken", "a relay", "not there"),
    ],
)
def test_an_accounts_pool_comes_before_its_own_proxy(
    changes: dict[str, Any], expected: Proxy
) -> None:
    found = pool(**changes)

    general = general_proxy(read_settings(GENERAL))
    chosen = proxy_of({**OWN, "proxyPoolId": "p"}, {found.id: found}, general)

    assert chosen == expected


@pytest.mark.parametrize("word", [None, "", "__none__"])
def test_no_pool_is_no_pool(word: str | None) -> None:
    assert proxy_of({"proxyPoolId": word}, {"__none__": pool()}) is None


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


SECURE, PLAIN = "https://vendor.example/v1", "http://vendor.example/v1"


@pytest.mark.parametrize(
    ("variables", "secure", "plain"),
    [
        ({}, None, None),
        ({"HTTPS_PROXY": "http://s"}, "http://s", None),
        ({"HTTP_PROXY": "http://p"}, None, "http://p"),
        ({"ALL_PROXY": "socks5://a"}, "socks5://a", "socks5://a"),
        ({"ALL_PROXY": "socks5://a", "http_proxy": "http://p"}, "socks5://a", "http://p"),
        ({"ALL_PROXY": "http://a", "NO_PROXY": "other.example, vendor.example"}, None, None),
        ({"NO_PROXY": "*"}, None, None),
    ],
)
def test_variables_name_a_proxy_for_each_scheme(
    variables: dict[str, str], secure: str | None, plain: str | None
) -> None:
    proxy = environment_proxy(from_environ(variables))

    assert (proxy_for(proxy, SECURE), proxy_for(proxy, PLAIN)) == (secure, plain)


def test_the_proxy_of_the_settings_comes_before_that_of_the_variables() -> None:
    usual = environment_proxy(from_environ({"ALL_PROXY": "http://usual"}))

    assert general_proxy(read_settings(GENERAL), usual) == Proxy("http://p", "x.y")
    assert general_proxy(read_settings({}), usual) == usual
    assert general_proxy(read_settings({"outboundProxyEnabled": True}), usual) == usual
    assert proxy_of(OWN, {}, usual) == Proxy("http://own")


@pytest.mark.parametrize(
    ("host", "proxied"),
    [("10.1.2.3", False), ("11.0.0.1", True), ("[fd00::1]", False), ("name.example", True)],
)
def test_networks_may_be_exempt(host: str, proxied: bool) -> None:
    proxy = Proxy("http://p", "10.0.0.0/8,fd00::/8,rubbish/9")

    assert (proxy_for(proxy, f"http://{host}/v1") is not None) is proxied
    assert proxy_for(Proxy("http://p", "*.example"), f"http://{host}/v1") == (
        None if host == "name.example" else "http://p"
    )
