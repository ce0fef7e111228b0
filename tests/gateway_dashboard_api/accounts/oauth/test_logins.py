"""Logins at a real OAuth server: browsers, codes that are typed in, several accounts, sign-outs."""

import hashlib
from base64 import urlsafe_b64encode
from collections.abc import AsyncIterator
from pathlib import Path
from typing import Any
from urllib.parse import parse_qsl, urlsplit

import pytest
from admin_gateway import AdminGateway, client_of, opened
from oauth_server import CLIENT, PUBLIC, SECRET, OAuthServer
from oauth_vendor import PAGE, SignedInVendor, begun, signed_in, specs
from served_gateway import vendor_plugin
from snapshots import Clock

from gateway_core.routing.cooldowns import EVERY_MODEL
from gateway_dashboard_api.accounts.oauth.journeys import LIFETIME, MOST

pytestmark = pytest.mark.anyio
BY_HAND = "http://localhost:8080/callback"


@pytest.fixture
async def admin(
    tmp_path: Path, clock: Clock, server: OAuthServer, vendor: SignedInVendor
) -> AsyncIterator[AdminGateway]:
    plugins = {"logins": vendor_plugin(specs(vendor, server))}
    async with opened(tmp_path, {}, clock, plugins) as here:
        yield here


async def exchange(
    admin: AdminGateway, body: dict[str, Any], status: int, provider: str = "acme-id"
) -> Any:
    return await admin.call("POST", f"/api/oauth/{provider}/exchange", body, status=status)


@pytest.mark.parametrize(
    ("provider", "client"), [("acme-id", CLIENT), ("public-id", PUBLIC), ("odd-id", CLIENT)]
)
async def test_a_login_becomes_an_account_that_serves(
    admin: AdminGateway,
    server: OAuthServer,
    vendor: SignedInVendor,
    clock: Clock,
    provider: str,
    client: str,
) -> None:
    row = await signed_in(admin, server, provider, name="ada's")
    answer = await admin.chat(f"{provider}/large")

    assert answer.status_code == 200, answer.text
    assert server.came_back == PAGE
    assert (row["provider"], row["authType"], row["name"]) == (provider, "oauth", "ada's")
    assert row["displayName"] == "ada's"
    assert (row["expiresIn"], row["tokenType"], row["scope"]) == (3600, "Bearer", "inference")
    stored = await admin.stored(row["id"])
    (token,) = server.tokens
    assert token.client.id == client
    assert stored == {"accessToken": token.access_token, "refreshToken": token.refresh_token}
    (call,) = vendor.calls("/chat/completions")
    assert call.headers["authorization"] == f"Bearer {token.access_token}"
    assert "api-key" not in call.headers


async def test_the_browser_is_sent_with_a_challenge_and_an_exact_address(
    admin: AdminGateway,
) -> None:
    started = await begun(admin)

    query = dict(parse_qsl(urlsplit(started["authUrl"]).query))
    digest = hashlib.sha256(started["codeVerifier"].encode()).digest()
    assert query == {
        "response_type": "code",
        "client_id": CLIENT,
        "redirect_uri": PAGE,
        "scope": "inference",
        "state": started["state"],
        "code_challenge": urlsafe_b64encode(digest).decode().rstrip("="),
        "code_challenge_method": "S256",
    }
    assert started["redirectUri"] == PAGE
    assert len(started["state"]) >= 43
    assert len(started["codeVerifier"]) >= 43


@pytest.mark.parametrize(
    "address",
    [
        "http://127.0.0.1/dashboard/callback/",
        "http://127.0.0.1/dashboard/callback?x=1",
        "http://127.0.0.1:81/dashboard/callback",
        "http://127.0.0.1.evil.example/dashboard/callback",
        "http://localhost:8081/callback",
        "javascript:alert(1)",
    ],
)
async def test_no_other_address_is_come_back_to(admin: AdminGateway, address: str) -> None:
    path = "/api/oauth/acme-id/authorize"

    refused = await admin.client.get(path, params={"redirect_uri": address})
    usual = await admin.call("GET", path)

    assert refused.status_code == 400
    assert "Invalid redirect_uri" in refused.text
    assert usual["redirectUri"] == BY_HAND


async def test_a_state_is_good_once(admin: AdminGateway, server: OAuthServer) -> None:
    started = await begun(admin)
    back = server.sign_in(started["authUrl"])
    again = server.sign_in(started["authUrl"])
    body = {"code": back["code"], "state": back["state"]}

    await exchange(admin, body, 200)
    answer = await exchange(admin, {**body, "code": again["code"]}, 404)

    assert "has ended" in answer["error"]
    assert len(server.asked("/token")) == 1


@pytest.mark.parametrize(
    ("wrong", "said"),
    [
        ({"redirectUri": "http://127.0.0.1/other"}, "redirectUri is not that of this login"),
        ({"codeVerifier": "x" * 43}, "codeVerifier is not that of this login"),
        ({"meta": {"connectionId": "nobody's"}}, "Connection not found"),
    ],
)
async def test_what_is_not_of_this_login_ends_it(
    admin: AdminGateway, server: OAuthServer, wrong: dict[str, Any], said: str
) -> None:
    started = await begun(admin)
    body = server.sign_in(started["authUrl"])

    refused = await admin.client.post("/api/oauth/acme-id/exchange", json={**body, **wrong})
    after = await exchange(admin, body, 404)

    assert refused.status_code in (400, 404)
    assert said in refused.text
    assert "has ended" in after["error"]
    assert server.asked("/token") == []


async def test_a_state_of_another_provider_or_of_nobody_is_refused(
    admin: AdminGateway, server: OAuthServer
) -> None:
    started = await begun(admin)
    body = server.sign_in(started["authUrl"])

    await exchange(admin, {**body, "state": "made-up"}, 404)
    await exchange(admin, body, 404, "public-id")

    assert server.asked("/token") == []


async def test_the_server_insists_on_the_verifier(admin: AdminGateway, server: OAuthServer) -> None:
    """Two logins whose codes are swapped: each verifier is for its own code."""
    one, other = await begun(admin), await begun(admin)
    code = server.sign_in(one["authUrl"])["code"]
    state = server.sign_in(other["authUrl"])["state"]

    answer = await exchange(admin, {"code": code, "state": state}, 400)

    assert "invalid_grant" in answer["error"]
    assert (await admin.call("GET", "/api/providers"))["connections"] == []


async def test_a_login_ends_by_itself(
    admin: AdminGateway, server: OAuthServer, clock: Clock
) -> None:
    started = await begun(admin)
    body = server.sign_in(started["authUrl"])
    clock.now += LIFETIME + 1

    await exchange(admin, body, 404)


async def test_the_number_of_logins_is_bounded(admin: AdminGateway, clock: Clock) -> None:
    for _ in range(MOST + 5):
        clock.now += 0.01
        await begun(admin)

    rows = await admin.core.stores.database.fetch("SELECT purpose, value FROM tickets")
    assert len(rows) == MOST
    assert all("verifier" not in row["value"] for row in rows)


async def test_a_login_is_given_up(admin: AdminGateway, server: OAuthServer) -> None:
    started = await begun(admin)
    body = server.sign_in(started["authUrl"])

    await admin.call("POST", "/api/oauth/acme-id/cancel", {"state": started["state"]})

    await exchange(admin, body, 404)
    await admin.call("POST", "/api/oauth/acme-id/cancel", {"state": "x"}, status=404)


async def test_several_people_are_several_accounts(
    admin: AdminGateway, server: OAuthServer
) -> None:
    one = await signed_in(admin, server, name="same")
    other = await signed_in(admin, server, name="same")

    assert one["id"] != other["id"]
    assert (await admin.stored(one["id"])) != (await admin.stored(other["id"]))


async def test_signing_in_again_replaces_the_tokens_of_an_account(
    admin: AdminGateway, server: OAuthServer, clock: Clock
) -> None:
    before = await signed_in(admin, server, name="main")
    old = await admin.stored(before["id"])
    server.end()
    clock.now += 60
    refused = await admin.chat("acme-id/large")
    assert refused.status_code == 401
    assert "sign in again" in refused.text
    assert admin.core.cooldowns.find(before["id"], EVERY_MODEL) is not None

    after = await signed_in(admin, server, connectionId=before["id"])
    answer = await admin.chat("acme-id/large")

    assert answer.status_code == 200, answer.text
    assert after["id"] == before["id"]
    assert after["testStatus"] == "unknown"
    assert after.get("lastError") is None
    assert (await admin.stored(before["id"])) != old


async def test_an_account_of_another_provider_is_left_alone(
    admin: AdminGateway, server: OAuthServer
) -> None:
    other = await admin.connect()
    started = await begun(admin)
    body = server.sign_in(started["authUrl"])

    answer = await exchange(admin, {**body, "meta": {"connectionId": other["id"]}}, 400)

    assert answer["error"] == "The account belongs to another provider"


async def test_a_code_is_typed_in_somewhere_else(
    admin: AdminGateway, server: OAuthServer, clock: Clock
) -> None:
    shown = await admin.call("GET", "/api/oauth/typed-id/device-code")
    body = {"deviceCode": shown["device_code"], "extraData": {"name": "typed"}}

    async def poll() -> dict[str, Any]:
        clock.now += shown["interval"]
        answer: dict[str, Any] = await admin.call("POST", "/api/oauth/typed-id/poll", body)
        return answer

    waiting = await poll()
    server.approved[shown["user_code"]] = True
    done = await poll()

    assert shown["verification_uri"] == f"{server.url}/activate"
    assert shown["verification_uri_complete"].endswith(shown["user_code"])
    assert shown["device_code"] not in server.devices
    assert (waiting["success"], waiting["pending"]) == (False, True)
    assert waiting["error"] == "authorization_pending"
    assert (done["success"], done["connection"]["name"]) == (True, "typed")
    assert (await admin.chat("typed-id/large")).status_code == 200
    assert await admin.call("POST", "/api/oauth/typed-id/poll", body, status=404)


async def test_the_vendor_is_asked_no_more_often_than_it_allows(
    admin: AdminGateway, server: OAuthServer, clock: Clock
) -> None:
    shown = await admin.call("GET", "/api/oauth/typed-id/device-code")
    body, path = {"deviceCode": shown["device_code"]}, "/api/oauth/typed-id/poll"
    server.is_slow_down = True
    first = await admin.call("POST", path, body)
    for _ in range(3):
        assert (await admin.call("POST", path, body))["pending"]
    clock.now += shown["interval"]
    slower = await admin.call("POST", path, body)

    assert (first["error"], slower["error"]) == ("slow_down", "authorization_pending")
    assert len(server.asked("/token")) == 1
    clock.now += shown["interval"]
    await admin.call("POST", path, body)
    assert len(server.asked("/token")) == 2


async def test_a_person_who_says_no_ends_the_login(
    admin: AdminGateway, server: OAuthServer
) -> None:
    shown = await admin.call("GET", "/api/oauth/typed-id/device-code")
    body, path = {"deviceCode": shown["device_code"]}, "/api/oauth/typed-id/poll"
    server.approved[shown["user_code"]] = False

    answer = await admin.call("POST", path, body)

    assert (answer["success"], answer["pending"]) == (False, False)
    assert answer["error"] == "access_denied"
    await admin.call("POST", path, body, status=404)


async def test_signing_out_revokes_both_tokens(admin: AdminGateway, server: OAuthServer) -> None:
    row = await signed_in(admin, server)
    tokens = await admin.stored(row["id"])
    body, path = {"connectionId": row["id"]}, "/api/oauth/acme-id/revoke"

    done = await admin.call("POST", path, body)

    assert (done["success"], done["revoked"]) == (True, True)
    assert done["connection"]["testStatus"] == "reauth_required"
    revoked = [form["token"] for form in server.asked("/revoke")]
    assert revoked == [tokens["refreshToken"], tokens["accessToken"]]
    assert await admin.stored(row["id"]) == {}
    assert not server.accepts(tokens["accessToken"])


async def test_an_account_with_a_key_cannot_be_signed_out(admin: AdminGateway) -> None:
    row = await admin.connect("acme-id", apiKey="key-canary")

    body = {"connectionId": row["id"]}
    answer = await admin.call("POST", "/api/oauth/acme-id/revoke", body, status=400)

    assert "has no login" in answer["error"]


@pytest.mark.parametrize(
    ("method", "path", "said"),
    [
        ("GET", "acme/authorize", "no OAuth login"),
        ("GET", "nobody/authorize", "no OAuth login"),
        ("GET", "typed-id/authorize", "signs in with a code"),
        ("GET", "acme-id/start-proxy", "Unknown action"),
        ("GET", "acme-id/exchange", "Unknown action"),
        ("POST", "acme-id/import-token", "Unknown action"),
    ],
)
async def test_what_there_is_not_is_said(
    admin: AdminGateway, method: str, path: str, said: str
) -> None:
    body = {} if method == "POST" else None

    answer = await admin.call(method, f"/api/oauth/{path}", body, status=400)

    assert said in answer["error"]


async def test_only_operators_sign_in(admin: AdminGateway) -> None:
    made = await admin.call("POST", "/api/keys", {"name": "k", "machineId": "m"}, status=201)
    bearer = {"authorization": f"Bearer {made['key']}"}
    async with client_of(admin.gateway, "192.0.2.9", operator=False) as stranger:
        for method, path in (("GET", "authorize"), ("GET", "device-code"), ("POST", "exchange")):
            where = f"/api/oauth/acme-id/{path}"
            assert (await stranger.request(method, where, json={})).status_code == 401
            known = await stranger.request(method, where, json={}, headers=bearer)
            assert known.status_code == 403


def holding(folder: Path, secret: str) -> list[str]:
    """The files that hold a text, by name."""
    files = (file for file in folder.rglob("*") if file.is_file())
    return [file.name for file in files if secret.encode() in file.read_bytes()]


async def test_nothing_secret_is_logged_or_stored_in_the_open(
    admin: AdminGateway, server: OAuthServer, caplog: pytest.LogCaptureFixture, tmp_path: Path
) -> None:
    row = await signed_in(admin, server)
    server.expire()
    await admin.chat("acme-id/large")
    server.end()
    await admin.chat("acme-id/large")

    secrets = {SECRET, *(each.refresh_token for each in server.tokens)}
    secrets |= {each.access_token for each in server.tokens if each.access_token}
    assert not any(secret in caplog.text for secret in secrets)
    assert [file for secret in secrets for file in holding(tmp_path, secret)] == []
    assert row["id"] in str(await admin.core.stores.database.fetch("SELECT id FROM connections"))


async def test_a_code_is_exchanged_for_a_plain_key(
    admin: AdminGateway, server: OAuthServer, vendor: SignedInVendor
) -> None:
    row = await signed_in(admin, server, "key-id", name="main")

    answer = await admin.chat("key-id/large")

    assert answer.status_code == 200, answer.text
    assert server.came_back == PAGE
    assert row["authType"] == "apikey"
    assert await admin.stored(row["id"]) == {"apiKey": server.keys[0]}
    changed = await signed_in(admin, server, "key-id", connectionId=row["id"])
    assert changed["id"] == row["id"]
    assert await admin.stored(row["id"]) == {"apiKey": server.keys[1]}


async def test_a_key_is_not_exchanged_for_a_name_that_is_taken(
    admin: AdminGateway, server: OAuthServer
) -> None:
    await signed_in(admin, server, "key-id", name="main")
    started = await begun(admin, "key-id")
    body = {**server.sign_in(started["authUrl"]), "meta": {"name": "main"}}

    await exchange(admin, body, 409, "key-id")

    assert len(server.keys) == 1


async def test_a_key_needs_the_verifier_of_its_code(
    admin: AdminGateway, server: OAuthServer
) -> None:
    one, other = await begun(admin, "key-id"), await begun(admin, "key-id")
    code = server.sign_in(one["authUrl"])["code"]

    await exchange(admin, {"code": code, "state": other["state"]}, 502, "key-id")

    assert server.keys == []


async def test_a_vendor_says_how_people_may_sign_in(admin: AdminGateway) -> None:
    flows = {
        each["id"]: each["loginFlows"]
        for each in (await admin.call("GET", "/api/vendors"))["vendors"]
        if each["hasOauth"]
    }

    assert flows == {
        **{id: ["browser", "code"] for id in ("acme-id", "public-id", "odd-id")},
        "typed-id": ["code"],
        "key-id": ["browser"],
    }
