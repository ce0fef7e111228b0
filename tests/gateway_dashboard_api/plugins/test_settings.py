"""The settings of plugins: shown, changed, brought back, and followed by the plugin."""

from collections.abc import AsyncIterator
from pathlib import Path
from types import ModuleType
from typing import Annotated, Any

import msgspec
import pytest
from admin_gateway import AdminGateway, client_of, opened
from caller_kinds import SECRET, with_key, with_session, without_credentials
from msgspec import Meta, Struct
from own_stores import own_stores

from gateway_administration.stores.audit import AuditRow
from gateway_core import hookimpl
from gateway_core.app import Gateway
from gateway_core.config.environment import from_environ
from gateway_core.http.operations import Guarded
from gateway_core.plugins.setting_fields import MASK
from gateway_dashboard_api import plugin as dashboard
from gateway_dashboard_api.plugins.settings import PluginSettingsShape

pytestmark = pytest.mark.anyio
PATH = "/api/plugins/acme/settings"
CALM = "/api/plugins/calm/settings"


class Acme(Struct, frozen=True, kw_only=True, rename="camel"):
    region: Annotated[str, Meta(description="Where it runs.")] = "eu"
    tries: Annotated[int, Meta(ge=1)] = 3
    api_key: str = ""
    hosts: tuple[str, ...] = ()

    def __post_init__(self) -> None:
        if self.region == "moon" and self.tries > 5:
            raise ValueError("the moon is called at most 5 times")


def acme(given: list[Any]) -> ModuleType:
    """A plugin with settings, which it takes when it starts."""

    def register_routes(settings: Acme) -> list[Guarded]:
        given.append(settings)
        return []

    module = calm()
    module.register_routes = hookimpl(register_routes)  # type: ignore[attr-defined]
    return module


def calm() -> ModuleType:
    """A plugin with settings that no hook takes."""
    module = ModuleType("in_process")
    module.register_settings = hookimpl(lambda: Acme)  # type: ignore[attr-defined]
    return module


@pytest.fixture
def variables() -> dict[str, str]:
    return {"JWT_SECRET": SECRET}


@pytest.fixture
def given() -> list[Any]:
    """What hooks took."""
    return []


@pytest.fixture
async def admin(
    tmp_path: Path, variables: dict[str, str], given: list[Any]
) -> AsyncIterator[AdminGateway]:
    plugins = {"acme": acme(given), "calm": calm()}
    async with opened(tmp_path, variables, more=plugins) as here:
        yield here


def current(gateway: Gateway, name: str = "acme") -> object:
    return gateway.core.plugin_settings.current(name)


async def audited(admin: AdminGateway) -> tuple[AuditRow, ...]:
    return (await own_stores(admin.core).audit.page())[0]


async def test_the_defaults_are_shown_with_what_is_known_of_each(admin: AdminGateway) -> None:
    shown = await admin.call("GET", PATH)

    msgspec.convert(shown, PluginSettingsShape)
    assert shown["settings"] == {"region": "eu", "tries": 3, "apiKey": None, "hosts": []}
    assert shown["fields"][0] == {
        "name": "region",
        "type": "string",
        "description": "Where it runs.",
        "default": "eu",
        "secret": False,
        "variable": "PLUGIN_ACME_REGION",
        "source": "default",
    }
    assert {name: shown[name] for name in ("plugin", "restartRequired", "problems")} == {
        "plugin": "acme",
        "restartRequired": False,
        "problems": [],
    }


async def test_a_change_is_stored_and_counts_at_once(admin: AdminGateway) -> None:
    body = {"region": "us", "apiKey": "word-canary"}

    answer = await admin.call("PATCH", PATH, body)

    assert answer == await admin.call("GET", PATH)
    assert answer["settings"] == {"region": "us", "tries": 3, "apiKey": MASK, "hosts": []}
    assert [field["source"] for field in answer["fields"]] == [
        *("stored", "default", "stored", "default")
    ]
    assert current(admin.gateway) == Acme(region="us", api_key="word-canary")


async def test_what_was_taken_at_the_start_wants_a_restart(
    admin: AdminGateway, given: list[Any]
) -> None:
    one = await admin.call("PATCH", PATH, {"tries": 4})
    other = await admin.call("PATCH", CALM, {"tries": 4})
    back = await admin.call("PATCH", PATH, {"tries": 3})

    assert given == [Acme()]
    assert [shown["restartRequired"] for shown in (one, other, back)] == [True, False, False]


async def test_settings_outlive_a_restart(tmp_path: Path) -> None:
    given: list[Any] = []
    for _ in range(2):
        async with opened(tmp_path, {}, more={"acme": acme(given)}) as admin:
            shown = await admin.call("PATCH", PATH, {"region": "us", "apiKey": "word-canary"})

    assert given == [Acme(), Acme(region="us", api_key="word-canary")]
    assert shown["restartRequired"] is False


async def test_sending_the_document_back_changes_nothing_that_counts(admin: AdminGateway) -> None:
    await admin.call("PATCH", PATH, {"region": "us", "apiKey": "word-canary"})
    before = await admin.call("GET", PATH)

    after = await admin.call("PATCH", PATH, before["settings"])

    assert after["settings"] == before["settings"]
    assert current(admin.gateway) == Acme(region="us", api_key="word-canary")


async def test_null_brings_a_default_back(admin: AdminGateway) -> None:
    await admin.call("PATCH", PATH, {"region": "us", "tries": 4})

    after = await admin.call("PATCH", PATH, {"region": None})

    assert after["settings"]["region"] == "eu"
    assert current(admin.gateway) == Acme(tries=4)


@pytest.mark.parametrize(
    ("body", "error"),
    [
        ({"tries": 0}, "Invalid settings: Expected `int` >= 1 - at `$.tries`"),
        ({"hosts": [1]}, "Invalid settings: Expected `str`, got `int` - at `$.hosts[0]`"),
        ({"apiKey": 5}, "Invalid settings: apiKey does not fit its type"),
        ({"regoin": "us"}, "Invalid settings: there is no setting regoin"),
        ({"region": "moon", "tries": 6}, "Invalid settings: the moon is called at most 5 times"),
        (["region"], "Invalid request body: Expected `object`, got `array`"),
    ],
    ids=["out of range", "inside", "secret", "unknown", "refused by the plugin", "list"],
)
async def test_a_change_that_makes_no_sense_is_refused_whole(
    admin: AdminGateway, body: Any, error: str
) -> None:
    if isinstance(body, dict):
        body = {"hosts": ["kept-out"], **body}

    answer = await admin.call("PATCH", PATH, body, status=400)

    assert answer["error"].startswith(error)
    assert current(admin.gateway) == Acme()


async def test_members_of_another_version_are_kept_until_all_is_reset(admin: AdminGateway) -> None:
    store = admin.core.stores.plugin_settings
    await store.patch("acme", {"older": 1})

    await admin.call("PATCH", PATH, {"region": "us"})
    kept = (await store.get("acme")).members
    await admin.call("DELETE", PATH)

    assert kept == {"older": 1, "region": "us"}
    assert (await store.get("acme")).members == {}


async def test_settings_are_brought_back_one_by_one_or_together(admin: AdminGateway) -> None:
    await admin.call("PATCH", PATH, {"region": "us", "tries": 4, "apiKey": "word-canary"})

    one = await admin.call("DELETE", f"{PATH}?setting=region")
    every = await admin.call("DELETE", PATH)

    assert (one["settings"]["region"], one["settings"]["tries"]) == ("eu", 4)
    assert every["settings"] == {"region": "eu", "tries": 3, "apiKey": None, "hosts": []}
    assert current(admin.gateway) == Acme()


async def test_a_schema_is_served(admin: AdminGateway) -> None:
    schema = await admin.call("GET", f"{PATH}/schema")

    assert schema["$schema"] == "https://json-schema.org/draft/2020-12/schema"
    properties = schema["$defs"]["Acme"]["properties"]
    assert properties["tries"] == {"type": "integer", "minimum": 1, "default": 3}
    assert properties["apiKey"] == {"type": "string", "writeOnly": True}


@pytest.mark.parametrize(
    ("path", "error"),
    [
        ("/api/plugins/nobody/settings", "There is no plugin nobody"),
        ("/api/plugins/echo/settings", "Plugin echo has no settings, or is not loaded"),
        (f"{PATH}?setting=older", "Plugin acme has no setting older"),
    ],
)
async def test_what_is_not_there_is_said_to_be_missing(
    admin: AdminGateway, path: str, error: str
) -> None:
    answer = await admin.call("DELETE", path, status=404)

    assert answer["error"] == error


async def test_each_change_is_audited_without_its_values(admin: AdminGateway) -> None:
    await admin.call("PATCH", PATH, {"tries": 4, "apiKey": "word-canary"})
    await admin.call("PATCH", PATH, {"tries": 0}, status=400)
    await admin.call("PATCH", PATH, {"apiKey": MASK})
    await admin.call("DELETE", f"{PATH}?setting=tries")
    await admin.call("DELETE", PATH)

    rows = sorted(await audited(admin), key=lambda row: row.id)
    assert [(row.action, row.target, row.detail) for row in rows] == [
        ("plugin-settings.change", "acme", {"keys": ["apiKey", "tries"]}),
        ("plugin-settings.reset", "acme", {"keys": ["tries"]}),
        ("plugin-settings.reset", "acme", {}),
    ]


@pytest.mark.parametrize("method", ["PATCH", "DELETE"])
async def test_a_change_that_cannot_be_audited_is_not_made(
    admin: AdminGateway, method: str
) -> None:
    await admin.call("PATCH", PATH, {"region": "us"})
    await admin.core.stores.database.execute("DROP TABLE audit")

    body = {"region": "moon"} if method == "PATCH" else None
    await admin.call(method, PATH, body, status=500)

    assert (await admin.core.stores.plugin_settings.get("acme")).members == {"region": "us"}


async def test_a_key_may_look_and_an_operator_may_write(admin: AdminGateway) -> None:
    async with (
        with_key(admin) as key,
        with_session(admin) as session,
        without_credentials(admin, "192.0.2.9") as n,
    ):
        await key.call("GET", PATH)
        await key.call("PATCH", PATH, {"region": "us"}, status=403)
        await key.call("DELETE", PATH, status=403)
        await n.call("GET", PATH, status=401)
        await session.call("PATCH", PATH, {"region": "by session"})

    assert current(admin.gateway) == Acme(region="by session")


async def test_a_wrong_stored_value_is_told_and_the_default_counts(admin: AdminGateway) -> None:
    await admin.core.stores.plugin_settings.patch("acme", {"tries": 0, "region": "us"})
    await admin.core.refresh()

    shown = await admin.call("GET", PATH)

    assert shown["settings"]["tries"] == 3
    assert shown["settings"]["region"] == "us"
    assert shown["problems"] == [
        "the setting tries (stored) is left out: Expected `int` >= 1 - at `$.tries`"
    ]


async def test_another_process_on_the_same_data_follows(
    tmp_path: Path, admin: AdminGateway
) -> None:
    environment = from_environ({"DATA_DIR": str(tmp_path)})
    async with Gateway.open(
        environment,
        extra_plugins={"acme": calm()},
        installed_plugins=False,
        shares_data=True,
    ) as other:
        await admin.call("PATCH", PATH, {"region": "us", "apiKey": "word-canary"})
        before = current(other)
        await other.core.refresh()

        assert before == Acme()
        assert current(other) == Acme(region="us", api_key="word-canary")


async def test_a_process_variable_wins_over_the_program_and_that_over_what_is_stored(
    tmp_path: Path,
) -> None:
    environment = from_environ({"DATA_DIR": str(tmp_path), "PLUGIN_ACME_TRIES": "7"})
    given: list[Any] = []
    async with (
        Gateway.open(
            environment,
            extra_plugins={"acme": acme(given), "dashboard": dashboard},
            installed_plugins=False,
            plugin_settings={"acme": {"region": "us", "tries": 5}},
        ) as gateway,
        client_of(gateway) as client,
    ):
        answer = await client.patch(PATH, json={"region": "it", "tries": 4, "hosts": ["a"]})

    assert given == [Acme(region="us", tries=7)]
    assert [field["source"] for field in answer.json()["fields"]] == [
        *("program", "environment", "default", "stored")
    ]


@pytest.mark.parametrize("variables", [{"PLUGIN_ACME_TRIES": "none", "PLUGIN_ACME_X": "1"}])
async def test_what_is_wrong_at_the_start_is_a_problem_of_the_plugin(admin: AdminGateway) -> None:
    problems = admin.core.snapshot.registry.problems

    assert [(each.plugin, each.message) for each in problems] == [
        ("acme", "the variable PLUGIN_ACME_TRIES is left out: it is to hold integer"),
        ("acme", "the variable PLUGIN_ACME_X means none of its settings"),
    ]
    assert (await admin.call("GET", PATH))["problems"] == [problems[0].message]
