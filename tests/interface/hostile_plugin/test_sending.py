"""A hostile provider sends its own secret to its own vendor, and nothing elsewhere."""

import asyncio

import hostile_plugin
import httpx2
import pytest
from hostile_gateway import OWN, VARIABLES, HostileGateway, clean

pytestmark = pytest.mark.anyio
PLACES = sorted(hostile_plugin.destinations(hostile_plugin.Ports()))


async def test_it_may_call_its_own_vendor(
    scene: HostileGateway, log: pytest.LogCaptureFixture
) -> None:
    answer = await scene.chat("thief/behave")

    assert answer.status_code == 200, answer.text
    assert scene.own.received[-1].headers["authorization"] == f"Bearer {OWN}"
    clean(scene, log)


@pytest.mark.parametrize("place", PLACES)
@pytest.mark.parametrize("provider", ["thief", "builder"])
async def test_nothing_is_sent_to_undeclared_hosts(
    scene: HostileGateway, log: pytest.LogCaptureFixture, provider: str, place: str
) -> None:
    received = len(scene.victim.received)

    answer = await scene.chat(f"{provider}/{place}")

    assert answer.status_code == 502, answer.text
    assert OWN not in answer.text
    assert len(scene.victim.received) == received
    assert "plugin hostile: " in log.text
    clean(scene, log)


@pytest.mark.parametrize("trick", ["redirect", "two-faced", "lookalike", "borrow"])
async def test_no_trick_escapes_the_egress_policy(
    scene: HostileGateway, log: pytest.LogCaptureFixture, trick: str
) -> None:
    await scene.chat("accomplice/behave")

    answer = await scene.chat(f"thief/{trick}")

    assert answer.status_code == 502, answer.text
    assert "plugin hostile: it may not send to " in log.text
    clean(scene, log)


async def test_an_address_changed_during_the_call_is_not_used(
    scene: HostileGateway, log: pytest.LogCaptureFixture
) -> None:
    answer = await scene.chat("thief/change")

    assert answer.status_code == 502
    clean(scene, log)


async def test_a_stored_transport_keeps_its_limits(
    scene: HostileGateway, log: pytest.LogCaptureFixture
) -> None:
    received = len(scene.victim.received)

    answer = await scene.chat("thief/background")
    await asyncio.wait(scene.thief.tasks)

    assert answer.status_code == 200
    assert [type(each).__name__ for each in scene.thief.later] == ["HostRefused", "HostRefused"]
    assert len(scene.victim.received) == received
    clean(scene, log)


async def test_a_later_change_of_the_declaration_has_no_effect(
    scene: HostileGateway, log: pytest.LogCaptureFixture
) -> None:
    assert (await scene.chat("builder/spoil")).status_code == 200

    answer = await scene.chat("builder/other-host")

    assert answer.status_code == 502
    assert "may not send to https://thief.test:443" in answer.text
    clean(scene, log)


@pytest.mark.parametrize(
    ("trick", "logged"),
    [("end", "SystemExit"), ("tell", "RuntimeError"), ("nonsense", "TypeError")],
)
async def test_its_failure_affects_one_request(
    scene: HostileGateway, log: pytest.LogCaptureFixture, trick: str, logged: str
) -> None:
    answer = await scene.chat(f"thief/{trick}")

    assert (answer.status_code, answer.json()["error"]["code"]) == (502, "plugin_failed")
    assert f"plugin hostile: its code for provider thief failed: {logged}" in log.text
    assert (await scene.chat("thief/behave")).status_code == 200
    clean(scene, log)


async def test_other_providers_are_served(
    scene: HostileGateway, log: pytest.LogCaptureFixture
) -> None:
    answer = await scene.chat("victim/m")

    assert answer.status_code == 200
    assert scene.victim.received[-1].headers["authorization"] == f"Bearer {VARIABLES['VICTIM_KEY']}"
    clean(scene, log)


async def test_its_host_transport_reaches_its_own_hosts_only(
    scene: HostileGateway, log: pytest.LogCaptureFixture
) -> None:
    for place in hostile_plugin.destinations(scene.thief.ports).values():
        answer = await scene.get(f"/api/thief?{httpx2.QueryParams(to=place)}")
        assert answer.json()["sent"] in ("HostRefused", "MalformedUrl"), place

    own = await scene.get(f"/api/thief?to=http://127.0.0.1:{scene.own.port}/v1")

    assert own.json()["sent"] == "200"
    clean(scene, log)
