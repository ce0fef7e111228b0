from typing import Any

import pytest
from office import KEY, Office

from gateway_core.contracts.errors import UpstreamError
from gateway_core.routing.failure_rules import FailureClass
from gateway_core.storage.stores.connection import NewConnection

pytestmark = pytest.mark.anyio
PATH = "/api/providers"


async def test_a_connection_is_saved_and_shown_without_its_secrets(office: Office) -> None:
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

    made = (await office.ask("POST", PATH, body, status=201))["connection"]

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
    assert await office.stored(identity) == {
        "apiKey": KEY,
        "sessionToken": "session-canary",
        "providerSpecificData": {"clientSecret": "canary", "webCookie": "canary"},
    }
    shown = (await office.ask("GET", f"{PATH}/{identity}"))["connection"]
    assert (await office.ask("GET", PATH))["connections"] == [shown]
    assert shown["name"] == "main"


async def test_the_other_path_saves_connections_too(office: Office) -> None:
    body = {"provider": "ac", "displayName": "By alias", "apiKey": KEY}

    made = (await office.ask("POST", "/api/connections", body, status=201))["connection"]

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
    office: Office, body: dict[str, Any], error: str
) -> None:
    answer = await office.ask("POST", PATH, body, status=400)

    assert answer["error"].startswith(error)
    assert (await office.ask("GET", PATH))["connections"] == []


async def test_a_lost_node_is_not_found(office: Office) -> None:
    body = {"provider": "openai-compatible-chat-gone", "name": "a", "apiKey": KEY}

    answer = await office.ask("POST", PATH, body, status=404)

    assert answer["error"] == "Provider node not found"


@pytest.mark.parametrize(
    "address", ["http://169.254.169.254/v1", "file:///etc/passwd", "http://u:p@h"]
)
@pytest.mark.parametrize("member", ["baseUrl", "otherEndpoint"])
async def test_an_address_the_gateway_never_calls_is_refused(
    office: Office, address: str, member: str
) -> None:
    if member == "otherEndpoint" and not address.startswith("http"):
        address = "http://[fe80::1]/"
    body = {"provider": "acme", "name": "a", "apiKey": KEY}

    answer = await office.ask(
        "POST", PATH, {**body, "providerSpecificData": {member: address}}, status=400
    )

    assert answer["error"].startswith(("The provider's URL", "The provider's address"))


@pytest.mark.parametrize("provider", ["open", "local", "echo"])
async def test_a_key_is_not_insisted_on_where_none_is_needed(office: Office, provider: str) -> None:
    body = {"provider": provider, "name": "a"}

    made = (await office.ask("POST", PATH, body, status=201))["connection"]

    assert made["authType"] == "none"


@pytest.mark.parametrize(
    ("create_only", "code"),
    [
        (False, "PROVIDER_CONNECTION_ALREADY_EXISTS"),
        (True, "PROVIDER_CONNECTION_NAME_CONFLICT"),
    ],
)
async def test_a_name_is_given_once(office: Office, create_only: bool, code: str) -> None:
    await office.connect()
    body = {"provider": "acme", "name": "main", "apiKey": "canary", "createOnly": create_only}

    answer = await office.ask("POST", PATH, body, status=409)

    assert answer["code"] == code
    assert len((await office.ask("GET", PATH))["connections"]) == 1


async def test_a_saved_connection_serves_the_next_call(office: Office) -> None:
    assert (await office.chat("acme/large")).status_code == 404

    await office.connect()

    assert (await office.chat("acme/large")).status_code == 200


async def test_a_changed_key_serves_the_next_call_and_ends_the_rest(office: Office) -> None:
    row = await office.connect(apiKey="wrong-canary")
    assert (await office.chat("acme/large")).status_code == 401
    assert office.core.cooldowns.find(row["id"], "large") is not None

    for method in ("PUT", "PATCH"):
        changed = await office.ask(method, f"{PATH}/{row['id']}", {"apiKey": KEY})

    assert changed["connection"]["testStatus"] == "unknown"
    assert (await office.chat("acme/large")).status_code == 200


async def test_an_update_changes_what_it_names_and_nothing_else(office: Office) -> None:
    row = await office.connect(providerSpecificData={"region": "eu", "zone": "b"})
    path = f"{PATH}/{row['id']}"

    await office.ask("PUT", path, {"defaultModel": "small", "isActive": False, "lastError": "odd"})
    await office.ask("PATCH", path, {"providerSpecificData": {"zone": None, "shard": 3}})
    after = (await office.ask("PUT", path, {"defaultModel": None, "apiKey": ""}))["connection"]

    assert after["providerSpecificData"] == {"region": "eu", "shard": 3}
    assert (after["isActive"], after["lastError"], after["name"]) == (False, "odd", "main")
    assert "defaultModel" not in after
    assert await office.stored(row["id"]) == {"apiKey": KEY}
    assert (await office.chat("acme/large")).status_code == 404


async def test_what_an_account_shows_and_no_body_sets_is_dropped(office: Office) -> None:
    row = await office.connect()
    path = f"{PATH}/{row['id']}"
    smuggled = {
        "id": "mine",
        "provider": "open",
        "authType": "oauth",
        "createdAt": "never",
    }

    await office.ask("PUT", path, smuggled)

    after = (await office.ask("GET", path))["connection"]
    assert {**after, "updatedAt": row["updatedAt"]} == row
    assert await office.stored(row["id"]) == {"apiKey": KEY}


@pytest.mark.parametrize(
    "name", ["accessToken", "refreshToken", "source", "modelLock___all", "__proto__", "data"]
)
async def test_what_an_account_does_not_show_is_refused(office: Office, name: str) -> None:
    row = await office.connect()
    path = f"{PATH}/{row['id']}"

    answer = await office.ask("PUT", path, {"priority": 7, name: "mine"}, status=400)

    assert answer["error"].startswith(f'Unknown member "{name}": possible are name, apiKey, ')
    assert (await office.ask("GET", path))["connection"] == row
    assert await office.stored(row["id"]) == {"apiKey": KEY}


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
    office: Office, body: dict[str, Any], error: str
) -> None:
    row = await office.connect()

    answer = await office.ask("PUT", f"{PATH}/{row['id']}", body, status=400)

    assert answer["error"].startswith(error)


async def test_a_proxy_is_shown_whole_here_and_without_password_in_the_shared_list(
    office: Office,
) -> None:
    proxy = "http://me:word@127.0.0.1:9"
    row = await office.connect(connectionProxyEnabled=True, connectionProxyUrl=proxy)

    shared = (await office.ask("GET", f"{PATH}/client"))["connections"]

    assert row["providerSpecificData"]["connectionProxyUrl"] == proxy
    assert shared[0]["providerSpecificData"]["connectionProxyUrl"] == "http://***@127.0.0.1:9"


async def test_a_deleted_connection_is_gone_at_once(office: Office) -> None:
    row = await office.connect()

    gone = await office.ask("DELETE", f"{PATH}/{row['id']}")

    assert gone == {"message": "Connection deleted successfully"}
    assert (await office.chat("acme/large")).status_code == 404
    for method in ("GET", "PUT", "PATCH", "DELETE"):
        body: Any = None if method in ("GET", "DELETE") else {}
        answer = await office.ask(method, f"{PATH}/{row['id']}", body, status=404)
        assert answer["error"] == "Connection not found"


async def test_the_order_is_set_as_a_whole(office: Office) -> None:
    ids = [(await office.connect(name=name))["id"] for name in "abc"]
    body = {"provider": "ac", "ids": [ids[2], ids[0], ids[1]]}

    assert await office.ask("PUT", f"{PATH}/reorder", body) == {"success": True}

    rows = (await office.ask("GET", PATH))["connections"]
    assert [(row["name"], row["priority"]) for row in rows] == [("c", 1), ("a", 2), ("b", 3)]
    assert [account.name for account in office.core.snapshot.accounts["acme"]] == ["c", "a", "b"]
    for wrong in (ids[:2], [*ids, ids[0]], [*ids[:2], "x"]):
        await office.ask("PUT", f"{PATH}/reorder", {**body, "ids": wrong}, status=400)
    await office.ask("PUT", f"{PATH}/reorder", {"provider": "acme"}, status=400)


async def test_the_shared_list_comes_in_pages(office: Office) -> None:
    for name in ("one", "two", "three"):
        await office.connect(name=name)
    await office.connect("open", name="four")

    page = await office.ask("GET", f"{PATH}/client?page=2&pageSize=2&provider=ac")
    found = await office.ask("GET", f"{PATH}/client?search=OPEN")

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
async def test_odd_pages_are_refused(office: Office, query: str) -> None:
    await office.ask("GET", f"{PATH}/client?{query}", status=400)


async def test_what_a_vendor_repeats_is_masked_on_the_row(office: Office) -> None:
    row = await office.connect(apiKey="wrong-canary")
    await office.chat("acme/large")
    await office.core.stores.connections.note(office.core.cooldowns.take_changes())

    shown = (await office.ask("GET", f"{PATH}/{row['id']}"))["connection"]

    assert shown["testStatus"] == "unavailable"
    assert shown["lastError"] == "Incorrect API key provided: Bearer ***"


async def test_a_secret_that_cannot_be_opened_is_told(office: Office) -> None:
    row = await office.connect()
    database = office.core.stores.database
    await database.execute("UPDATE connections SET secrets = 'rubbish'")

    shown = (await office.ask("GET", f"{PATH}/{row['id']}"))["connection"]
    refused = await office.ask("PUT", f"{PATH}/{row['id']}", {"apiKey": KEY}, status=500)

    assert shown["testStatus"] == "error"
    assert shown["lastError"].startswith("The stored secret cannot be opened")
    assert refused["code"] == "seal_broken"


async def test_a_new_key_is_for_accounts_with_keys(office: Office) -> None:
    keyless = await office.ask("POST", PATH, {"provider": "open", "name": "a"}, status=201)
    path = f"{PATH}/{keyless['connection']['id']}"

    after = (await office.ask("PUT", path, {"apiKey": KEY}))["connection"]

    assert after["authType"] == "apikey"


@pytest.mark.parametrize("variables", [{"ACME_KEY": KEY}])
async def test_a_variables_key_is_changed_where_it_comes_from(office: Office) -> None:
    row = (await office.ask("GET", PATH))["connections"][0]

    answer = await office.ask("PUT", f"{PATH}/{row['id']}", {"apiKey": "canary"}, status=400)

    assert (row["name"], row["source"]) == ("ACME_KEY", "environment")
    assert answer["error"].startswith("This key comes from an environment variable")


async def test_the_rest_of_an_account_ends_with_it(office: Office) -> None:
    row = await office.connect()
    busy = UpstreamError("busy", status=429)
    office.core.cooldowns.record_failure(row["id"], "large", busy, FailureClass(True, backoff=True))

    await office.ask("DELETE", f"{PATH}/{row['id']}")

    assert office.core.cooldowns.all_active() == []


async def test_an_account_outlives_its_plugin(office: Office) -> None:
    data = {"apiKey": KEY, "providerSpecificData": {"region": "eu"}}
    new = NewConnection(provider="gone", name="old", data=data)
    lost = await office.core.stores.connections.create(new)
    path = f"{PATH}/{lost.id}"

    shown = (await office.ask("GET", path))["connection"]
    renamed = (await office.ask("PUT", path, {"name": "older"}))["connection"]
    moved = await office.ask("PUT", path, {"providerSpecificData": {"region": "us"}}, status=400)
    tested = await office.ask("POST", f"{path}/test")
    await office.ask("GET", f"{path}/models", status=400)

    assert (shown["canDiscoverModels"], renamed["name"]) == (False, "older")
    assert moved["error"] == tested["error"]
    assert (tested["valid"], tested["diagnosis"]["source"]) == (False, "local")
    assert await office.stored(lost.id) == {"apiKey": KEY}
    await office.ask("DELETE", path)
