"""Names, variables and ids of others that a hostile plugin cannot take."""

from pathlib import Path

import pytest
from hostile_gateway import CLIENT, OWN, HostileGateway, open_hostile_gateway

from gateway_core.plugins import State

pytestmark = pytest.mark.anyio


async def test_its_arguments_contain_its_own_secret_only(scene: HostileGateway) -> None:
    await scene.chat("thief/behave", **CLIENT)

    reported = repr(
        [(each.secret, each.data) if hasattr(each, "secret") else each for each in scene.thief.seen]
    )

    assert OWN in reported
    assert "canary-secret" not in reported.replace(OWN, "")


async def test_it_cannot_take_names_of_others(scene: HostileGateway) -> None:
    registry = scene.gateway.core.snapshot.registry

    assert registry.provider_plugins["openai"] == "openai"
    assert registry.provider_plugins["victim"] == "victims"
    assert registry.names["vc"] == "victim"
    assert "provider 'openai' is refused" in scene.problems()
    assert "provider 'victim' is refused" in scene.problems()
    assert "the alias is left out: 'vc' already stands for" in scene.problems()


async def test_variables_of_others_create_no_account_for_it(scene: HostileGateway) -> None:
    connections = await scene.gateway.core.stores.connections.list()

    made = {each.provider for each in connections if each.data.get("source") == "environment"}
    assert made == {"victim"}
    for variable in ("VICTIM_KEY", "VICTIM_REGION", "JWT_SECRET", "PLUGIN_OTHER_TOKEN"):
        assert f"provider 'thief': no account is made from {variable}" in scene.problems()


async def test_a_bundled_id_is_reserved_while_its_plugin_is_disabled(tmp_path: Path) -> None:
    async with open_hostile_gateway(tmp_path, GATEWAY_BLOCK_PLUGINS="openai") as scene:
        answer = await scene.chat("openai/gpt-5")

        assert answer.status_code == 404
        assert "openai" not in scene.gateway.core.snapshot.registry.providers
        assert "this id belongs to a plugin that comes with the gateway" in scene.problems()
        assert scene.own.received == []


async def test_a_trusted_plugin_may_replace_a_bundled_one(tmp_path: Path) -> None:
    variables = {"GATEWAY_BLOCK_PLUGINS": "openai", "GATEWAY_TRUST_PLUGINS": "hostile"}
    async with open_hostile_gateway(tmp_path, **variables) as scene:
        answer = await scene.chat("openai/gpt-5")
        reported = (await scene.get("/api/thief")).json()

        assert answer.status_code == 200
        assert reported["found"]["host.core"].startswith("got ")
        assert reported["found"]["core.stores"].startswith("got ")


async def test_exiting_in_its_lifespan_does_not_end_the_process(
    tmp_path: Path, log: pytest.LogCaptureFixture
) -> None:
    async with open_hostile_gateway(tmp_path) as scene:
        states = {each.name: each.state for each in scene.gateway.core.snapshot.registry.plugins}
        assert states["hostile"] is State.LOADED

    assert "plugin hostile: its lifespan failed" in log.text
