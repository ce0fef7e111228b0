"""A plugin that is out for secrets gets its own and no others, and its name gets into the log.

What code in the same process can do past the doors it is given is not tested
here, because it cannot be stopped: docs/plugin-security.md says so.
"""

import asyncio
import logging
from collections.abc import AsyncIterator
from contextlib import AsyncExitStack, asynccontextmanager
from pathlib import Path
from typing import Any

import hostile_plugin
import httpx2
import pytest
from fake_vendor import Asked, FakeVendor, Said
from office import REPLY
from served import vendor_plugin

from gateway_core import Model, ProviderSpec
from gateway_core.app import Gateway
from gateway_core.config.environment import from_environ
from gateway_core.identity.credentials import CLI_HEADER
from gateway_core.plugins import State
from gateway_core.storage.connection import NewConnection

pytestmark = pytest.mark.anyio

OWN = "own-canary-secret"
SECRETS = {"openai": "openai-canary-secret", "victim": "victim-canary-secret"}
CLIENT_KEY = "sk-client-canary-secret"
CLIENT = {
    "authorization": f"Bearer {CLIENT_KEY}",
    "x-api-key": CLIENT_KEY,
    "x-goog-api-key": CLIENT_KEY,
    "cookie": f"auth_token={CLIENT_KEY}",
}
PLUGINS = "hostile,format-openai,openai,dashboard,victims"
VARIABLES = {
    "VICTIM_KEY": "env-canary-secret",
    "VICTIM_REGION": "eu",
    "JWT_SECRET": "jwt-canary-secret-0123456789abcdef",
    "PLUGIN_OTHER_TOKEN": "settings-canary-secret",
}
SOURCE = Path(hostile_plugin.__file__).read_text(encoding="utf-8")
PLACES = sorted(hostile_plugin.destinations(hostile_plugin.Ports()))


@pytest.fixture(scope="module")
def anyio_backend() -> str:
    return "asyncio"


class Scene:
    """The gateway with its thief, whom it steals from, and where it would bring it."""

    def __init__(self, gateway: Gateway, own: FakeVendor, victim: FakeVendor) -> None:
        self.gateway = gateway
        self.own = own
        self.victim = victim
        self.visits: list[str] = []
        """Connections to the place that nothing may arrive at."""

    @property
    def thief(self) -> Any:
        return self.gateway.core.tables.registry.providers["thief"].executor

    def problems(self) -> str:
        registry = self.gateway.core.tables.registry
        return "\n".join(p.message for p in registry.problems if p.plugin == "hostile")

    def client(self, **headers: str) -> httpx2.AsyncClient:
        transport = httpx2.ASGITransport(app=self.gateway.app, client=("127.0.0.1", 1))
        return httpx2.AsyncClient(transport=transport, base_url="http://127.0.0.1", headers=headers)

    async def chat(self, model: str, **headers: str) -> httpx2.Response:
        body = {"model": model, "messages": [{"role": "user", "content": "Hello"}]}
        async with self.client(**headers) as client:
            return await client.post("/v1/chat/completions", json=body)

    async def get(self, path: str, **headers: str) -> httpx2.Response:
        async with self.client(**headers) as client:
            return await client.get(path)


def answered(asked: Asked) -> Said:
    if asked.target == "/moved":
        place = asked.headers["host"].partition(":")[0]
        return Said((b"",), 302, headers={"location": f"http://{place}:1/"})
    return Said((REPLY,))


@asynccontextmanager
async def opened(folder: Path, **variables: str) -> AsyncIterator[Scene]:
    async with AsyncExitStack() as stack:
        own, victim = FakeVendor(answered), FakeVendor(answered)
        for vendor in (own, victim):
            await vendor.open()
            stack.push_async_callback(vendor.aclose)
        visits: list[str] = []

        async def visited(reader: Any, writer: asyncio.StreamWriter) -> None:
            visits.append(repr(writer.get_extra_info("peername")))
            writer.close()

        canary = await stack.enter_async_context(
            await asyncio.start_server(visited, "127.0.0.1", 0)
        )
        plugins = folder / "plugins"
        plugins.mkdir(mode=0o700)
        (plugins / "hostile.py").write_text(SOURCE, encoding="utf-8")
        (plugins / "hostile.py").chmod(0o600)
        ports = {
            "own": own.port,
            "victim": victim.port,
            "canary": canary.sockets[0].getsockname()[1],
        }
        given = {"DATA_DIR": str(folder), "GATEWAY_LOAD_PLUGINS": PLUGINS, **VARIABLES, **variables}
        gateway = await stack.enter_async_context(
            Gateway.open(
                from_environ(given),
                extra_plugins={"victims": vendor_plugin([victim_spec(victim)])},
                plugin_settings={"hostile": ports},
            )
        )
        scene = Scene(gateway, own, victim)
        scene.visits = visits
        await store_accounts(gateway)
        yield scene


def victim_spec(vendor: FakeVendor) -> ProviderSpec:
    return ProviderSpec(
        id="victim",
        name="Victim",
        alias="vc",
        base_url=f"{vendor.url}/v1",
        models=(Model("m"),),
        environment=("VICTIM_KEY",),
        environment_data={"VICTIM_REGION": "region"},
    )


async def store_accounts(gateway: Gateway) -> None:
    store = gateway.core.stores.connections
    accounts = {**SECRETS, "thief": OWN, "builder": OWN, "accomplice": OWN}
    for provider, secret in accounts.items():
        await store.create(NewConnection(provider=provider, name="main", data={"apiKey": secret}))
    await gateway.core.refresh()


@pytest.fixture(scope="module")
async def scene(tmp_path_factory: pytest.TempPathFactory) -> AsyncIterator[Scene]:
    async with opened(tmp_path_factory.mktemp("data")) as scene:
        yield scene


@pytest.fixture(autouse=True)
def log(caplog: pytest.LogCaptureFixture) -> pytest.LogCaptureFixture:
    caplog.set_level(logging.DEBUG)
    return caplog


def clean(scene: Scene, log: pytest.LogCaptureFixture) -> None:
    """Nobody was visited who should not be, and no log line holds a secret."""
    assert scene.visits == []
    lines = [line.getMessage() for line in log.records if not line.name.startswith("httpx2")]
    assert "canary-secret" not in "\n".join(lines)
    assert not any(OWN in asked.target + str(asked.headers) for asked in scene.victim.asked)


async def test_it_may_ask_its_own_vendor(scene: Scene, log: pytest.LogCaptureFixture) -> None:
    answer = await scene.chat("thief/behave")

    assert answer.status_code == 200, answer.text
    assert scene.own.asked[-1].headers["authorization"] == f"Bearer {OWN}"
    clean(scene, log)


@pytest.mark.parametrize("place", PLACES)
@pytest.mark.parametrize("provider", ["thief", "builder"])
async def test_nothing_is_sent_to_where_it_did_not_say(
    scene: Scene, log: pytest.LogCaptureFixture, provider: str, place: str
) -> None:
    asked = len(scene.victim.asked)

    answer = await scene.chat(f"{provider}/{place}")

    assert answer.status_code == 502, answer.text
    assert OWN not in answer.text
    assert len(scene.victim.asked) == asked
    assert "plugin hostile: " in log.text
    clean(scene, log)


@pytest.mark.parametrize("trick", ["redirect", "two-faced", "lookalike", "borrow"])
async def test_no_trick_leads_elsewhere(
    scene: Scene, log: pytest.LogCaptureFixture, trick: str
) -> None:
    await scene.chat("accomplice/behave")

    answer = await scene.chat(f"thief/{trick}")

    assert answer.status_code == 502, answer.text
    assert "plugin hostile: it may not send to " in log.text
    clean(scene, log)


async def test_an_address_that_is_changed_under_way_is_not_used(
    scene: Scene, log: pytest.LogCaptureFixture
) -> None:
    answer = await scene.chat("thief/change")

    assert answer.status_code == 502
    clean(scene, log)


async def test_a_transport_that_is_kept_leads_nowhere_else(
    scene: Scene, log: pytest.LogCaptureFixture
) -> None:
    asked = len(scene.victim.asked)

    answer = await scene.chat("thief/background")
    await asyncio.wait(scene.thief.tasks)

    assert answer.status_code == 200
    assert [type(each).__name__ for each in scene.thief.later] == ["HostRefused", "HostRefused"]
    assert len(scene.victim.asked) == asked
    clean(scene, log)


async def test_changing_what_it_declared_comes_too_late(
    scene: Scene, log: pytest.LogCaptureFixture
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
async def test_its_failure_is_that_of_one_request(
    scene: Scene, log: pytest.LogCaptureFixture, trick: str, logged: str
) -> None:
    answer = await scene.chat(f"thief/{trick}")

    assert (answer.status_code, answer.json()["error"]["code"]) == (502, "plugin_failed")
    assert f"plugin hostile: its code for provider thief failed: {logged}" in log.text
    assert (await scene.chat("thief/behave")).status_code == 200
    clean(scene, log)


async def test_others_are_served_as_ever(scene: Scene, log: pytest.LogCaptureFixture) -> None:
    answer = await scene.chat("victim/m")

    assert answer.status_code == 200
    assert scene.victim.asked[-1].headers["authorization"] == f"Bearer {VARIABLES['VICTIM_KEY']}"
    clean(scene, log)


async def test_what_it_is_given_holds_its_own_secret_only(scene: Scene) -> None:
    await scene.chat("thief/behave", **CLIENT)

    told = repr(
        [(each.secret, each.data) if hasattr(each, "secret") else each for each in scene.thief.seen]
    )

    assert OWN in told
    assert "canary-secret" not in told.replace(OWN, "")


async def test_names_of_others_stay_theirs(scene: Scene) -> None:
    registry = scene.gateway.core.tables.registry

    assert registry.provider_plugins["openai"] == "openai"
    assert registry.provider_plugins["victim"] == "victims"
    assert registry.names["vc"] == "victim"
    assert "provider 'openai' is refused" in scene.problems()
    assert "provider 'victim' is refused" in scene.problems()
    assert "the alias is left out: 'vc' already stands for" in scene.problems()


async def test_variables_of_others_make_no_account_for_it(scene: Scene) -> None:
    connections = await scene.gateway.core.stores.connections.list()

    made = {each.provider for each in connections if each.data.get("source") == "environment"}
    assert made == {"victim"}
    for variable in ("VICTIM_KEY", "VICTIM_REGION", "JWT_SECRET", "PLUGIN_OTHER_TOKEN"):
        assert f"provider 'thief': no account is made from {variable}" in scene.problems()


async def test_an_id_of_the_house_is_kept_while_its_plugin_is_off(tmp_path: Path) -> None:
    async with opened(tmp_path, GATEWAY_BLOCK_PLUGINS="openai") as scene:
        answer = await scene.chat("openai/gpt-5")

        assert answer.status_code == 404
        assert "openai" not in scene.gateway.core.tables.registry.providers
        assert "this id belongs to a plugin that comes with the gateway" in scene.problems()
        assert scene.own.asked == []


async def test_a_trusted_plugin_may_stand_in_for_one_of_the_house(tmp_path: Path) -> None:
    variables = {"GATEWAY_BLOCK_PLUGINS": "openai", "GATEWAY_TRUST_PLUGINS": "hostile"}
    async with opened(tmp_path, **variables) as scene:
        answer = await scene.chat("openai/gpt-5")
        told = (await scene.get("/api/thief")).json()

        assert answer.status_code == 200
        assert told["found"]["host.core"].startswith("got ")
        assert told["found"]["gateway.stores"].startswith("got ")


async def test_its_routes_see_no_credentials_and_no_gateway(
    scene: Scene, log: pytest.LogCaptureFixture
) -> None:
    token = scene.gateway.core.identity.cli_token

    answer = await scene.get(f"/api/thief?key={CLIENT_KEY}&a=b", **CLIENT, **{CLI_HEADER: token})

    told = answer.json()
    assert CLIENT_KEY not in answer.text
    assert token not in answer.text
    assert (told["query"], told["app"]) == ("a=b", "None")
    assert dict(told["headers"])["host"] == "127.0.0.1"
    assert set(told["found"].values()) <= {"Forbidden", "AttributeError"}
    clean(scene, log)


async def test_asking_for_the_gateway_is_logged(tmp_path: Path, log: Any) -> None:
    async with opened(tmp_path) as scene:
        assert "plugin hostile: it is not trusted and gets no core" in log.text
        assert "plugin hostile: it is not trusted and gets no stores" in log.text
        clean(scene, log)


async def test_its_own_way_out_leads_to_its_own_hosts(
    scene: Scene, log: pytest.LogCaptureFixture
) -> None:
    for place in hostile_plugin.destinations(scene.thief.ports).values():
        answer = await scene.get(f"/api/thief?{httpx2.QueryParams(to=place)}")
        assert answer.json()["sent"] in ("HostRefused", "MalformedUrl"), place

    own = await scene.get(f"/api/thief?to=http://127.0.0.1:{scene.own.port}/v1")

    assert own.json()["sent"] == "200"
    clean(scene, log)


@pytest.mark.parametrize("path", ["/api/thief/fail", "/api/thief/end"])
async def test_a_route_that_fails_is_one_answer(
    scene: Scene, log: pytest.LogCaptureFixture, path: str
) -> None:
    answer = await scene.get(path)

    assert (answer.status_code, answer.json()["error"]) == (500, "Request failed")
    assert answer.json()["request_id"]
    assert f"plugin hostile: its route {path} failed" in log.text


async def test_it_takes_no_path_of_the_gateway(scene: Scene) -> None:
    answer = await scene.get("/api/health")

    assert answer.status_code == 200


async def test_its_interceptor_sees_no_credentials_and_changes_nothing(tmp_path: Path) -> None:
    async with opened(tmp_path) as scene:
        answer = await scene.chat("victim/m", **CLIENT)
        spy: Any = scene.gateway.core.interceptors.active[0].interceptor

        assert answer.status_code == 200
        assert CLIENT_KEY not in repr(spy.seen)
        assert spy.seen[0]["content-type"] == "application/json"
        assert scene.own.asked == []


async def test_an_interceptor_that_fails_again_and_again_is_left_out(
    tmp_path: Path, log: pytest.LogCaptureFixture
) -> None:
    async with opened(tmp_path) as scene:
        answers = [(await scene.chat("victim/m")).status_code for _ in range(6)]

        assert answers == [200] * 6
        assert scene.gateway.core.interceptors.active == ()
        assert "plugin hostile: interceptor Spy failed 5 times in a row" in log.text
        assert "is left out" in scene.problems()


async def test_ending_the_process_at_the_end_ends_nothing(
    tmp_path: Path, log: pytest.LogCaptureFixture
) -> None:
    async with opened(tmp_path) as scene:
        states = {each.name: each.state for each in scene.gateway.core.tables.registry.plugins}
        assert states["hostile"] is State.LOADED

    assert "plugin hostile: its lifespan failed" in log.text
