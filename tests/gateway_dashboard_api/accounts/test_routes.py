from typing import Any

import pytest
from admin_gateway import KEY, AdminGateway

from gateway_core.contracts.errors import UpstreamError
from gateway_core.routing.failure_rules import FailureClass
from gateway_core.storage.stores.connection import NewConnection

pytestmark = pytest.mark.anyio
PATH = "/api/providers"


async def test_a_connection_is_saved_and_shown_without_its_secrets(admin: AdminGateway) -> None:
    body = {
        "provider": "acme",
        "name": " main ",
        "apiKey": KEY,
        "sessionToken": "session-canary",
        "priority": 1,
        "globalPriority": 7,
        "defaultModel": "large",
        "providerSpecificData": {"region": "eu", "clientSecret": "canary", "webCookie": "canary"},
    }

    made = (await admin.call("POST", PATH, body, status=201))["connection"]

    now = made.pop("createdAt")
    assert made.pop("updatedAt") == now
    identity = made.pop("id")
    assert made == {
        "provider": "acme",
        "authType": "apikey",
        "name": "main",
        "email": None,
        "priority": 1,
        "isActive": True,
        "testStatus": "unknown",
        "globalPriority": 7,
        "defaultModel": "large",
        "providerSpecificData": {"region": "eu"},
        "canDiscoverModels": True,
    }
    assert await admin.stored(identity) == {
        "apiKey": KEY,
        "sessionToken": "session-canary",
        "providerSpecificData": {"clientSecret": "canary", "webCookie": "canary"},
    }
    shown = (await admin.call("GET", f"{PATH}/{identity}"))["connection"]
    assert (await admin.call("GET", PATH))["connections"] == [shown]
    assert shown["name"] == "main"


async def test_the_other_path_saves_connections_too(admin: AdminGateway) -> None:
    body = {"provider": "ac", "displayName": "By alias", "apiKey": KEY}

    made = (await admin.call("POST", "/api/connections", body, status=201))["connection"]

    assert (made["provider"], made["name"], made["displayName"]) == ("acme", "By alias", "By alias")


@pytest.mark.parametrize(
    ("body", "error"),
    [
        ({}, "Invalid provider"),
        ({"provider": "nobody", "name": "a", "apiKey": KEY}, "Invalid provider"),
        ({"provider": "acme", "name": "a"}, "API Key is required"),
        ({"provider": "acme", "name": "a", "apiKey": " "}, "API Key is required"),
        ({"provider": "webby", "name": "a"}, "Cookie value is required"),
        ({"provider": "acme", "apiKey": KEY}, "Name is required"),
        ({"provider": "acme", "name": "a", "apiKey": KEY, "proxyPoolId": "p"}, "Proxy pool"),
        (
            {"provider": "acme", "name": "a", "apiKey": KEY, "connectionProxyEnabled": True},
            "Connection proxy URL is required",
        ),
        (
            {"provider": "acme", "name": "a", "apiKey": KEY, "connectionProxyUrl": "ftp://x"},
            "The proxy's URL must be",
        ),
        (
            {"provider": "acme", "name": "a", "apiKey": KEY, "testStatus": "splendid"},
            "Invalid request body",
        ),
        ({"provider": "acme", "name": "a", "apiKey": KEY, "priority": 0}, "Invalid request body"),
        (
            {"provider": "acme", "name": "a", "apiKey": KEY, "priority": 1 << 31},
            "Invalid request body",
        ),
        (
            {"provider": "acme", "name": "ACME_KEY", "apiKey": KEY},
            "ACME_KEY is the name of an environment variable's account",
        ),
    ],
)
async def test_what_cannot_be_saved_is_refused(
    admin: AdminGateway, body: dict[str, Any], error: str
) -> None:
    answer = await admin.call("POST", PATH, body, status=400)

    assert answer["error"].startswith(error)
    assert (await admin.call("GET", PATH))["connections"] == []


async def test_a_lost_node_is_not_found(admin: AdminGateway) -> None:
    body = {"provider": "openai-compatible-chat-gone", "name": "a", "apiKey": KEY}

    answer = await admin.call("POST", PATH, body, status=404)

    assert answer["error"] == "Provider node not found"


@pytest.mark.parametrize(
    "address", ["http://169.254.169.254/v1", "file:///etc/passwd", "http://u:p@h"]
)
@pytest.mark.parametrize("member", ["baseUrl", "otherEndpoint"])
async def test_an_address_the_gateway_never_calls_is_refused(
    admin: AdminGateway, address: str, member: str
) -> None:
    if member == "otherEndpoint" and not address.startswith("http"):
        address = "http://[fe80::1]/"
    body = {"provider": "acme", "name": "a", "apiKey": KEY}

    answer = await admin.call(
        "POST", PATH, {**body, "providerSpecificData": {member: address}}, status=400
    )

    assert answer["error"].startswith(("The provider's URL", "The provider's address"))


@pytest.mark.parametrize("provider", ["open", "local", "echo"])
async def test_a_key_is_not_insisted_on_where_none_is_needed(
    admin: AdminGateway, provider: str
) -> None:
    body = {"provider": provider, "name": "a"}

    made = (await admin.call("POST", PATH, body, status=201))["connection"]

    assert made["authType"] == "none"


@pytest.mark.parametrize(
    ("create_only", "code"),
    [
        (False, "PROVIDER_CONNECTION_ALREADY_EXISTS"),
        (True, "PROVIDER_CONNECTION_NAME_CONFLICT"),
    ],
)
async def test_a_name_is_unique(admin: AdminGateway, create_only: bool, code: str) -> None:
    await admin.connect()
    body = {"provider": "acme", "name": "main", "apiKey": "canary", "createOnly": create_only}

    answer = await admin.call("POST", PATH, body, status=409)

    assert answer["code"] == code
    assert len((await admin.call("GET", PATH))["connections"]) == 1


async def test_a_saved_connection_serves_the_next_call(admin: AdminGateway) -> None:
    assert (await admin.chat("acme/large")).status_code == 404

    await admin.connect()

    assert (await admin.chat("acme/large")).status_code == 200


async def test_a_changed_key_serves_the_next_call_and_ends_the_rest(admin: AdminGateway) -> None:
    row = await admin.connect(apiKey="wrong-canary")
    assert (await admin.chat("acme/large")).status_code == 401
    assert admin.core.cooldowns.find(row["id"], "large") is not None

    for method in ("PUT", "PATCH"):
        changed = await admin.call(method, f"{PATH}/{row['id']}", {"apiKey": KEY})

    assert changed["connection"]["testStatus"] == "unknown"
    assert (await admin.chat("acme/large")).status_code == 200


async def test_an_update_changes_what_it_names_and_nothing_else(admin: AdminGateway) -> None:
    row = await admin.connect(providerSpecificData={"region": "eu", "zone": "b"})
    path = f"{PATH}/{row['id']}"

    await admin.call("PUT", path, {"defaultModel": "small", "isActive": False, "lastError": "odd"})
    await admin.call("PATCH", path, {"providerSpecificData": {"zone": None, "shard": 3}})
    after = (await admin.call("PUT", path, {"defaultModel": None, "apiKey": ""}))["connection"]

    assert after["providerSpecificData"] == {"region": "eu", "shard": 3}
    assert (after["isActive"], after["lastError"], after["name"]) == (False, "odd", "main")
    assert "defaultModel" not in after
    assert await admin.stored(row["id"]) == {"apiKey": KEY}
    assert (await admin.chat("acme/large")).status_code == 404


async def test_what_an_account_shows_and_no_body_sets_is_dropped(admin: AdminGateway) -> None:
    row = await admin.connect()
    path = f"{PATH}/{row['id']}"
    smuggled = {
        "id": "mine",
        "provider": "open",
        "authType": "oauth",
        "createdAt": "never",
    }

    await admin.call("PUT", path, smuggled)

    after = (await admin.call("GET", path))["connection"]
    assert {**after, "updatedAt": row["updatedAt"]} == row
    assert await admin.stored(row["id"]) == {"apiKey": KEY}


@pytest.mark.parametrize(
    "name", ["accessToken", "refreshToken", "source", "modelLock___all", "__proto__", "data"]
)
async def test_what_an_account_does_not_show_is_refused(admin: AdminGateway, name: str) -> None:
    row = await admin.connect()
    path = f"{PATH}/{row['id']}"

    answer = await admin.call("PUT", path, {"priority": 7, name: "mine"}, status=400)

    assert answer["error"].startswith(f'Unknown member "{name}": possible are name, apiKey, ')
    assert (await admin.call("GET", path))["connection"] == row
    assert await admin.stored(row["id"]) == {"apiKey": KEY}


@pytest.mark.parametrize(
    ("body", "error"),
    [
        ({"name": " "}, "Name is required"),
        ({"connectionProxyEnabled": True}, "Connection proxy URL is required"),
        ({"proxyPoolId": "p"}, "Proxy pool not found"),
        ({"providerSpecificData": {"baseUrl": 5}}, "Invalid baseUrl"),
        ({"isActive": "yes"}, "Invalid request body"),
    ],
)
async def test_a_change_that_makes_no_sense_is_refused(
    admin: AdminGateway, body: dict[str, Any], error: str
) -> None:
    row = await admin.connect()

    answer = await admin.call("PUT", f"{PATH}/{row['id']}", body, status=400)

    assert answer["error"].startswith(error)


async def test_a_proxy_is_shown_whole_here_and_without_password_in_the_shared_list(
    admin: AdminGateway,
) -> None:
    proxy = "http://me:word@127.0.0.1:9"
    row = await admin.connect(connectionProxyEnabled=True, connectionProxyUrl=proxy)

    shared = (await admin.call("GET", f"{PATH}/client"))["connections"]

    assert row["providerSpecificData"]["connectionProxyUrl"] == proxy
    assert shared[0]["providerSpecificData"]["connectionProxyUrl"] == "http://***@127.0.0.1:9"


async def test_a_deleted_connection_is_gone_at_once(admin: AdminGateway) -> None:
    row = await admin.connect()

    gone = await admin.call("DELETE", f"{PATH}/{row['id']}")

    assert gone == {"message": "Connection deleted successfully"}
    assert (await admin.chat("acme/large")).status_code == 404
    for method in ("GET", "PUT", "PATCH", "DELETE"):
        body: Any = None if method in ("GET", "DELETE") else {}
        answer = await admin.call(method, f"{PATH}/{row['id']}", body, status=404)
        assert answer["error"] == "Connection not found"


async def test_the_order_is_set_as_a_whole(admin: AdminGateway) -> None:
    ids = [(await admin.connect(name=name))["id"] for name in "abc"]
    body = {"provider": "ac", "ids": [ids[2], ids[0], ids[1]]}

    assert await admin.call("PUT", f"{PATH}/reorder", body) == {"success": True}

    rows = (await admin.call("GET", PATH))["connections"]
    assert [(row["name"], row["priority"]) for row in rows] == [("c", 1), ("a", 2), ("b", 3)]
    assert [account.name for account in admin.core.snapshot.accounts["acme"]] == ["c", "a", "b"]
    for wrong in (ids[:2], [*ids, ids[0]], [*ids[:2], "x"]):
        await admin.call("PUT", f"{PATH}/reorder", {**body, "ids": wrong}, status=400)
    await admin.call("PUT", f"{PATH}/reorder", {"provider": "acme"}, status=400)


async def test_the_shared_list_comes_in_pages(admin: AdminGateway) -> None:
    for name in ("one", "two", "three"):
        await admin.connect(name=name)
    await admin.connect("open", name="four")

    page = await admin.call("GET", f"{PATH}/client?page=2&pageSize=2&provider=ac")
    found = await admin.call("GET", f"{PATH}/client?search=OPEN")

    assert [row["name"] for row in page["connections"]] == ["three"]
    assert page["pagination"] == {
        "page": 2,
        "pageSize": 2,
        "totalItems": 3,
        "totalPages": 2,
        "hasNext": False,
        "hasPrev": True,
    }
    assert [row["name"] for row in found["connections"]] == ["four"]


@pytest.mark.parametrize(
    "query", ["page=0", "page=-1", "page=1e9", "pageSize=101", "pageSize=x", "page=99999999999"]
)
async def test_odd_pages_are_refused(admin: AdminGateway, query: str) -> None:
    await admin.call("GET", f"{PATH}/client?{query}", status=400)


async def test_what_a_vendor_repeats_is_masked_on_the_row(admin: AdminGateway) -> None:
    row = await admin.connect(apiKey="wrong-canary")
    await admin.chat("acme/large")
    await admin.core.stores.connections.note(admin.core.cooldowns.take_changes())

    shown = (await admin.call("GET", f"{PATH}/{row['id']}"))["connection"]

    assert shown["testStatus"] == "unavailable"
    assert shown["lastError"] == "Incorrect API key provided: Bearer ***"


async def test_a_secret_that_cannot_be_opened_is_told(admin: AdminGateway) -> None:
    row = await admin.connect()
    database = admin.core.stores.database
    await database.execute("UPDATE connections SET secrets = 'rubbish'")

    shown = (await admin.call("GET", f"{PATH}/{row['id']}"))["connection"]
    refused = await admin.call("PUT", f"{PATH}/{row['id']}", {"apiKey": KEY}, status=500)

    assert shown["testStatus"] == "error"
    assert shown["lastError"].startswith("The stored secret cannot be opened")
    assert refused["code"] == "seal_broken"


async def test_a_new_key_is_for_accounts_with_keys(admin: AdminGateway) -> None:
    keyless = await admin.call("POST", PATH, {"provider": "open", "name": "a"}, status=201)
    path = f"{PATH}/{keyless['connection']['id']}"

    after = (await admin.call("PUT", path, {"apiKey": KEY}))["connection"]

    assert after["authType"] == "apikey"


@pytest.mark.parametrize("variables", [{"ACME_KEY": KEY}])
async def test_a_variables_key_is_changed_where_it_comes_from(admin: AdminGateway) -> None:
    row = (await admin.call("GET", PATH))["connections"][0]

    answer = await admin.call("PUT", f"{PATH}/{row['id']}", {"apiKey": "canary"}, status=400)

    assert (row["name"], row["source"]) == ("ACME_KEY", "environment")
    assert answer["error"].startswith("This key comes from an environment variable")


async def test_the_rest_of_an_account_ends_with_it(admin: AdminGateway) -> None:
    row = await admin.connect()
    busy = UpstreamError("busy", status=429)
    admin.core.cooldowns.record_failure(row["id"], "large", busy, FailureClass(True, backoff=True))

    await admin.call("DELETE", f"{PATH}/{row['id']}")

    assert admin.core.cooldowns.all_active() == []


async def test_an_account_outlives_its_plugin(admin: AdminGateway) -> None:
    data = {"apiKey": KEY, "providerSpecificData": {"region": "eu"}}
    new = NewConnection(provider="gone", name="old", data=data)
    lost = await admin.core.stores.connections.create(new)
    path = f"{PATH}/{lost.id}"

    shown = (await admin.call("GET", path))["connection"]
    renamed = (await admin.call("PUT", path, {"name": "older"}))["connection"]
    moved = await admin.call("PUT", path, {"providerSpecificData": {"region": "us"}}, status=400)
    tested = await admin.call("POST", f"{path}/test")
    await admin.call("GET", f"{path}/models", status=400)

    assert (shown["canDiscoverModels"], renamed["name"]) == (False, "older")
    assert moved["error"] == tested["error"]
    assert (tested["valid"], tested["diagnosis"]["source"]) == (False, "local")
    assert await admin.stored(lost.id) == {"apiKey": KEY}
    await admin.call("DELETE", path)
