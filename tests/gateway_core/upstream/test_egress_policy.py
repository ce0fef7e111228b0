"""Requests that plugins' code makes go to declared hosts, and a refusal names the plugin."""

import logging
from typing import Any, cast

import pytest
from msgspec.structs import force_setattr, replace
from snapshots import provider

from gateway_core import Credential, ProviderSpec, UpstreamRequest, UpstreamResponse
from gateway_core.contracts.errors import HostRefused
from gateway_core.upstream.egress_policy import EgressPolicy
from gateway_core.upstream.transport import MalformedUrl

pytestmark = pytest.mark.anyio
ACME = provider("acme", base_url="https://api.acme.com/v1")
ACCOUNT = Credential(
    connection_id="a", secret="acme-canary-secret", data={"baseUrl": "http://box:1/v1"}
)


@pytest.fixture
def anyio_backend() -> str:
    return "asyncio"


class Wire:
    """Keeps what arrives."""

    def __init__(self) -> None:
        self.arrived: list[UpstreamRequest] = []

    async def send(self, request: UpstreamRequest) -> UpstreamResponse:
        self.arrived.append(request)
        return cast(UpstreamResponse, None)


def to(url: str) -> UpstreamRequest:
    return UpstreamRequest(url=url)


def firewall() -> EgressPolicy:
    return EgressPolicy(lambda provider: f"plugin-of-{provider}")


@pytest.mark.parametrize("url", ["https://api.acme.com/v1/chat", "http://box:1/v1/chat"])
async def test_what_is_declared_or_configured_is_reached(url: str) -> None:
    wire = Wire()

    await firewall().bound(ACME, ACCOUNT, wire).send(to(url))

    assert [each.url for each in wire.arrived] == [url]


async def test_what_one_account_names_is_not_open_to_another() -> None:
    wire = Wire()
    other = Credential(connection_id="b", secret="other")

    with pytest.raises(HostRefused):
        await firewall().bound(ACME, other, wire).send(to("http://box:1/v1/chat"))

    assert wire.arrived == []


async def test_a_refusal_is_told_and_logged_without_the_secret(
    caplog: pytest.LogCaptureFixture,
) -> None:
    wire = Wire()

    with pytest.raises(HostRefused) as refused:
        await firewall().bound(ACME, ACCOUNT, wire).send(to("https://acme-canary-secret.test/"))

    reported = "plugin-of-acme may not send to https://***.test:443, so nothing was sent."
    assert refused.value.message == f"Plugin {reported}"
    assert (refused.value.status, refused.value.sent) == (502, False)
    assert "plugin plugin-of-acme: it may not send to https://***.test:443" in caplog.text
    assert "acme-canary-secret" not in caplog.text
    assert wire.arrived == []


async def test_a_malformed_address_is_logged_too(caplog: pytest.LogCaptureFixture) -> None:
    with caplog.at_level(logging.WARNING), pytest.raises(MalformedUrl):
        await firewall().bound(ACME, ACCOUNT, Wire()).send(to("https://api.acme.com@thief.test/"))

    assert "plugin plugin-of-acme: nothing was sent" in caplog.text


class Text(str):
    """Looks like text."""


@pytest.mark.parametrize(
    "request_", [to(Text("https://api.acme.com/")), object()], ids=["a text", "a request"]
)
async def test_only_plain_requests_are_sent(request_: Any) -> None:
    wire = Wire()

    with pytest.raises(HostRefused):
        await firewall().bound(ACME, ACCOUNT, wire).send(request_)

    assert wire.arrived == []


async def test_what_is_sent_is_a_copy() -> None:
    wire, received = Wire(), to("https://api.acme.com/v1")

    await firewall().bound(ACME, ACCOUNT, wire).send(received)
    force_setattr(received, "url", "https://thief.test/")

    assert wire.arrived[0].url == "https://api.acme.com/v1"


def test_what_a_provider_declares_is_read_once() -> None:
    spec: ProviderSpec = provider("acme", base_url="https://api.acme.com/v1")
    wall = firewall()
    wall.learn([spec])

    force_setattr(spec, "base_url", "https://thief.test/v1")

    with pytest.raises(HostRefused):
        wall.check(spec, ACCOUNT, to("https://thief.test/v1"))


async def test_what_an_account_names_is_read_before_any_plugin_sees_it() -> None:
    wire, wall = Wire(), firewall()
    account = Credential(connection_id="a", data={"baseUrl": "http://box:1/v1"})
    wall.learn_accounts([account])
    cast(dict[str, str], account.data)["baseUrl"] = "https://thief.test"

    with pytest.raises(HostRefused):
        wall.check(ACME, account, to("https://thief.test/"))
    with pytest.raises(HostRefused):
        await wall.bound(ACME, account, wire).send(to("https://thief.test/"))
    wall.check(ACME, account, to("http://box:1/v1"))
    wall.check(ACME, account, to("http://box:1/v2"))

    assert wire.arrived == []


async def test_an_account_that_is_not_stored_is_read_when_its_transport_is_made() -> None:
    account = Credential(connection_id="", data={"baseUrl": "http://box:1/v1"})
    bound = firewall().bound(ACME, account, Wire())
    cast(dict[str, str], account.data)["baseUrl"] = "https://thief.test"

    with pytest.raises(HostRefused):
        await bound.send(to("https://thief.test/"))


def test_an_account_that_was_changed_leads_to_its_new_place_only() -> None:
    wall = firewall()
    wall.learn_accounts([ACCOUNT])
    wall.check(ACME, ACCOUNT, to("http://box:1/v1"))
    moved = replace(ACCOUNT, data={"baseUrl": "http://box:2/v1"})

    wall.learn_accounts([moved])

    wall.check(ACME, moved, to("http://box:2/v1"))
    with pytest.raises(HostRefused):
        wall.check(ACME, moved, to("http://box:1/v1"))


def test_an_account_is_read_as_it_is_shown_and_not_as_one_of_its_id_is_stored() -> None:
    wall = firewall()
    wall.learn_accounts([ACCOUNT])
    moved = replace(ACCOUNT, data={"baseUrl": "http://box:2/v1"})

    wall.check(ACME, moved, to("http://box:2/v1"))

    with pytest.raises(HostRefused):
        wall.check(ACME, moved, to("http://box:1/v1"))


def test_a_provider_that_is_declared_anew_is_read_anew() -> None:
    wall = firewall()
    wall.learn([ACME])

    moved = replace(ACME, base_url="https://new.acme.com/v1")

    wall.check(moved, ACCOUNT, to("https://new.acme.com/v1"))
    with pytest.raises(HostRefused):
        wall.check(moved, ACCOUNT, to("https://api.acme.com/v1"))


def test_that_one_call_may_pass_opens_nothing_to_another() -> None:
    wall, url = firewall(), "https://api.acme.com/v1/chat"
    wall.learn_accounts([ACCOUNT])
    wall.check(ACME, ACCOUNT, to(url))

    for spec, received in [
        (provider("acme", base_url="https://b"), to(url)),
        (ACME, to("https://b/v1/chat")),
        (ACME, to(Text(url))),
    ]:
        with pytest.raises(HostRefused):
            wall.check(spec, ACCOUNT, received)
    wall.check(ACME, ACCOUNT, to(url))
