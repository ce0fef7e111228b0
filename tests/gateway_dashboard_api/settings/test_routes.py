"""The settings document as it is shown and changed."""

from typing import Any

import pytest
from admin_gateway import AdminGateway
from caller_kinds import SECRET, with_key, with_session, without_credentials
from own_stores import own_stores

from gateway_core.config.settings import traits

pytestmark = pytest.mark.anyio
PATH = "/api/settings"
SECRETS = {
    "password": "hash-canary",
    "passwordSessionEpoch": "epoch-canary",
    "mitmSudoEncrypted": "sudo-canary",
    "postgresUrl": "postgres://canary",
    "mfaSecret": "mfa-canary",
    "mfaBackupCodes": ["code-canary", "other-canary"],
    "mfaEnabled": True,
}


async def test_a_fresh_gateway_shows_the_defaults(admin: AdminGateway) -> None:
    shown = await admin.call("GET", PATH)

    never = {name for name, trait in traits().items() if trait.never}
    assert never.isdisjoint(shown)
    assert {name: shown[name] for name in traits() if name not in never} == {
        name: list(trait.default) if isinstance(trait.default, tuple) else trait.default
        for name, trait in traits().items()
        if name not in never
    }
    assert {name: value for name, value in shown.items() if name not in traits()} == {
        "oidcConfigured": False,
        "hasPassword": False,
        "mfaBackupCodesRemaining": 0,
        "enableRequestLogs": False,
        "enableTranslator": False,
    }


async def test_secret_settings_are_never_shown(admin: AdminGateway) -> None:
    await admin.core.stores.settings.patch({**SECRETS, "oidcClientSecret": "oidc-canary"})
    await admin.core.stores.settings.patch({"upstreamProxyConfig": {"a": "http://u:canary@h"}})

    shown = await admin.call("GET", PATH)

    assert {"mfaSecret", "mfaBackupCodes", "postgresUrl", "password"}.isdisjoint(shown)
    assert (shown["mfaEnabled"], shown["hasPassword"]) == (True, True)
    assert shown["mfaBackupCodesRemaining"] == 2


async def test_a_patch_drops_what_only_other_routes_may_change(admin: AdminGateway) -> None:
    await admin.core.stores.settings.patch(SECRETS)
    before = await admin.core.stores.settings.document()
    smuggled = dict.fromkeys(SECRETS, "mine") | {"mfaEnabled": False, "hasPassword": False}

    await admin.call("PATCH", PATH, {**smuggled, "mfaBackupCodesRemaining": 9})

    assert await admin.core.stores.settings.document() == before


async def test_a_patch_applies_at_once_and_changes_nothing_else(admin: AdminGateway) -> None:
    await admin.call("PATCH", PATH, {"comboStrategy": "round-robin", "stickyRoundRobinLimit": 5})

    shown = await admin.call("PATCH", PATH, {"stickyRoundRobinLimit": None, "requireLogin": False})

    assert (shown["comboStrategy"], shown["stickyRoundRobinLimit"]) == ("round-robin", 3)
    assert admin.core.snapshot.settings.combo_strategy == "round-robin"
    assert admin.core.snapshot.settings.require_login is False


async def test_keys_are_required_from_the_next_call_on(admin: AdminGateway) -> None:
    async with without_credentials(admin) as here:
        assert (await here.chat("echo/echo")).status_code == 200

        await admin.call("PATCH", PATH, {"requireApiKey": True})

        assert (await here.chat("echo/echo")).status_code == 401


async def test_unknown_keys_pass_through(admin: AdminGateway) -> None:
    await admin.call("PATCH", PATH, {"someTool": {"colour": "blue", "apiKey": "canary"}})
    shown = await admin.call("PATCH", PATH, {"other": [1, {"a": None}], "toolToken": "canary"})

    assert shown["someTool"] == {"colour": "blue"}
    assert shown["other"] == [1, {"a": None}]
    assert "toolToken" not in shown
    assert (await admin.core.stores.settings.document())["toolToken"] == "canary"


@pytest.mark.parametrize(
    ("body", "error"),
    [
        ({"mediaRoutes": []}, "Invalid mediaRoutes"),
        ({"mediaRoutes": "a"}, "Invalid mediaRoutes"),
        ({"mediaRoutes": {"songs": []}}, "Invalid mediaRoutes"),
        ({"mediaRoutes": {"tts": "acme/a"}}, "Invalid mediaRoutes"),
        ({"mediaRoutes": {"tts": [1]}}, "Invalid mediaRoutes"),
        ({"mediaRoutes": {"tts": ["no-prefix"]}}, "Invalid mediaRoutes"),
        ({"mediaRoutes": {"tts": ["a/" + "b" * 255]}}, "Invalid mediaRoutes"),
        ({"mediaRoutes": {"tts": [f"a/{n}" for n in range(51)]}}, "Invalid mediaRoutes"),
        ({"requireLogin": "yes"}, "Invalid requireLogin"),
        ({"disabledFreeProviders": "echo"}, "Invalid disabledFreeProviders"),
        ({"stickyRoundRobinLimit": 11}, "Invalid stickyRoundRobinLimit"),
        ({"comboStrategies": {"a": {"timeoutMs": -1}}}, "Invalid comboStrategies"),
        ({"outboundProxyUrl": "ftp://p"}, "The proxy's URL must be"),
        ({"outboundProxyUrl": "http://169.254.169.254:80"}, "The provider's address"),
    ],
)
async def test_a_patch_that_makes_no_sense_changes_nothing(
    admin: AdminGateway, body: dict[str, Any], error: str
) -> None:
    answer = await admin.call("PATCH", PATH, {"cavemanEnabled": True, **body}, status=400)

    assert answer["error"].startswith(error)
    assert await admin.core.stores.settings.document() == {}


@pytest.mark.parametrize("name", ["claudeAutoPing", "codexAutoPing"])
async def test_auto_ping_is_set_elsewhere(admin: AdminGateway, name: str) -> None:
    answer = await admin.call("PATCH", PATH, {name: True}, status=400)

    assert "/api/providers/{id}/auto-ping" in answer["error"]


async def test_media_routes_are_kept_in_order_and_once(admin: AdminGateway) -> None:
    models = ["a/one", "b/two/three", "a/one"]

    shown = await admin.call("PATCH", PATH, {"mediaRoutes": {"tts": models, "image": []}})
    cleared = await admin.call("PATCH", PATH, {"mediaRoutes": None})

    assert shown["mediaRoutes"] == {"tts": ["a/one", "b/two/three"], "image": []}
    assert cleared["mediaRoutes"] == {}


@pytest.mark.parametrize("name", ["oidcIssuerUrl", "firecrawlBaseUrl"])
@pytest.mark.parametrize("url", ["http://169.254.169.254/latest", "ftp://x.test/", "no address"])
async def test_an_address_that_is_never_called_is_not_saved(
    admin: AdminGateway, name: str, url: str
) -> None:
    before = await admin.call("GET", PATH)

    await admin.call("PATCH", PATH, {name: url, "comboStrategy": "weighted"}, status=400)
    emptied = await admin.call("PATCH", PATH, {name: ""})

    assert (await admin.call("GET", PATH))["comboStrategy"] == before["comboStrategy"]
    assert emptied[name] == ""


async def test_a_blank_secret_keeps_the_old_one(admin: AdminGateway) -> None:
    oidc = {"oidcIssuerUrl": "https://id.example", "oidcClientId": "me"}
    first = await admin.call("PATCH", PATH, {**oidc, "oidcClientSecret": "oidc-canary"})

    second = await admin.call("PATCH", PATH, {"oidcClientSecret": "", "oidcLoginLabel": "Go"})

    assert (first["oidcConfigured"], second["oidcConfigured"]) == (True, True)
    document = await admin.core.stores.settings.document()
    assert document["oidcClientSecret"] == "oidc-canary"


async def test_an_operator_here_sees_proxies_as_they_are(admin: AdminGateway) -> None:
    proxy = "http://me:word@127.0.0.1:3128"

    shown = await admin.call("PATCH", PATH, {"outboundProxyUrl": proxy})

    assert shown["outboundProxyUrl"] == proxy


async def test_a_stored_value_that_makes_no_sense_is_shown_as_its_default(
    admin: AdminGateway,
) -> None:
    document = '{"comboStrategy":"witchcraft","requireLogin":false}'
    await admin.core.stores.settings.patch({"requireLogin": False})
    await admin.core.stores.database.execute("UPDATE settings SET data = :data", data=document)

    shown = await admin.call("GET", PATH)

    assert (shown["comboStrategy"], shown["requireLogin"]) == ("fallback", False)


@pytest.mark.parametrize("variables", [{"ENABLE_TRANSLATOR": "TRUE"}])
async def test_switches_of_the_process_are_shown(admin: AdminGateway) -> None:
    shown = await admin.call("GET", PATH)

    assert (shown["enableRequestLogs"], shown["enableTranslator"]) == (False, True)


async def test_what_was_shown_can_be_sent_back(admin: AdminGateway) -> None:
    shown = await admin.call("PATCH", PATH, {"headroomUrl": "http://127.0.0.1:1", "own": 1})

    assert await admin.call("PATCH", PATH, shown) == shown


HIDDEN = {
    *("exposeComboOnly", "requireLogin", "requireApiKey", "authMode", "oidcIssuerUrl"),
    *("oidcClientId", "oidcClientSecret", "oidcScopes", "oidcLoginLabel"),
    *("tunnelDashboardAccess", "enableObservability", "outboundProxyEnabled"),
    *("outboundProxyUrl", "outboundNoProxy", "claudeClassifierCompat"),
}
OURS = {
    "headroomUrl": "http://me:word@127.0.0.1:8787/path",
    "outboundProxyUrl": "http://me:word@127.0.0.1:3128",
    "tool": {"proxyUrl": "http://me:word@h", "list": [{"apiKey": "canary", "a": 1}]},
}


async def test_a_key_sees_neither_the_login_nor_passwords(admin: AdminGateway) -> None:
    await admin.call("PATCH", PATH, OURS)
    async with with_key(admin) as key:
        shown = await key.call("GET", PATH)

    assert HIDDEN.isdisjoint(shown)
    assert shown["headroomUrl"] == "http://***@127.0.0.1:8787"
    assert shown["tool"] == {"list": [{"a": 1}]}
    assert (shown["oidcConfigured"], shown["hasPassword"]) == (False, False)


@pytest.mark.parametrize("variables", [{"JWT_SECRET": SECRET}])
@pytest.mark.parametrize("audience", ["session", "command line", "open dashboard"])
async def test_an_operator_sees_everything_but_secrets(admin: AdminGateway, audience: str) -> None:
    await admin.call("PATCH", PATH, {**OURS, "requireLogin": audience != "open dashboard"})
    if audience == "command line":
        shown = await admin.call("GET", PATH)
    else:
        opened = with_session(admin) if audience == "session" else without_credentials(admin)
        async with opened as here:
            shown = await here.call("GET", PATH)

    assert HIDDEN - set(shown) == {"oidcClientSecret"}
    assert shown["headroomUrl"] == OURS["headroomUrl"]
    assert shown["outboundProxyUrl"] == OURS["outboundProxyUrl"]
    assert shown["tool"] == {"proxyUrl": "http://me:word@h", "list": [{"a": 1}]}


async def test_settings_require_a_credential(admin: AdminGateway) -> None:
    async with without_credentials(admin) as here:
        await here.call("GET", PATH, status=401)
        await here.call("PATCH", PATH, {"cavemanEnabled": True}, status=401)

    assert await admin.core.stores.settings.document() == {}


@pytest.mark.parametrize(
    "name",
    [
        *("requireApiKey", "requireLogin", "authMode", "oidcIssuerUrl", "oidcClientId"),
        *("oidcClientSecret", "oidcScopes", "oidcLoginLabel", "tunnelDashboardAccess"),
        *("outboundProxyEnabled", "outboundProxyUrl", "outboundNoProxy", "upstreamProxyConfig"),
        *("headroomUrl", "firecrawlBaseUrl", "cloudUrl", "mitmRouterBaseUrl", "databaseEngine"),
        *("dataRetentionEnabled", "dataRetentionDays"),
    ],
)
async def test_a_key_may_not_change_access_addresses_or_retention(
    admin: AdminGateway, name: str
) -> None:
    value = "canary" if name == "oidcClientSecret" else traits()[name].default
    async with with_key(admin) as key:
        answer = await key.call("PATCH", PATH, {name: value, "cavemanEnabled": True}, status=403)

    assert answer["error"] == f"An API key may not change {name}"
    assert await admin.core.stores.settings.document() == {}


async def test_a_key_may_change_other_settings_and_a_restricted_one_none(
    admin: AdminGateway,
) -> None:
    async with with_key(admin) as key:
        shown = await key.call("PATCH", PATH, {"comboStrategy": "round-robin"})
    async with with_key(admin, rpmLimit=5) as key:
        await key.call("PATCH", PATH, {"comboStrategy": "fallback"}, status=403)

    assert HIDDEN.isdisjoint(shown)
    assert admin.core.snapshot.settings.combo_strategy == "round-robin"


async def test_every_change_is_audited_with_old_and_new_values(admin: AdminGateway) -> None:
    await admin.call("PATCH", PATH, {"cavemanEnabled": True})
    await admin.call("PATCH", PATH, {"requireLogin": False, "oidcClientSecret": "canary"})

    rows, total = await own_stores(admin.core).audit.page()

    assert total == 2
    assert {(row.action, row.actor) for row in rows} == {("settings.change", "cli")}
    assert rows[1].detail == {"changes": {"cavemanEnabled": {"old": None, "new": True}}}
    assert rows[0].detail["changes"] == {
        "requireLogin": {"old": None, "new": False},
        "oidcClientSecret": {"old": None, "new": "***"},
    }


async def test_the_settings_do_not_grow_for_ever(admin: AdminGateway) -> None:
    half = "x" * 600_000

    await admin.call("PATCH", "/api/settings", {"one": half})
    reported = await admin.call("PATCH", "/api/settings", {"two": half}, status=400)

    assert "at most" in reported["error"]
    assert "two" not in await admin.call("GET", "/api/settings")
