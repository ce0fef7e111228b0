"""Token endpoints that lie, hang, flood or send elsewhere: nothing of it is taken."""

from collections.abc import AsyncIterator
from pathlib import Path
from typing import Any

import pytest
from admin_gateway import AdminGateway, opened
from fake_vendor import FakeVendor, MockResponse, ReceivedRequest
from oauth_server import OAuthServer
from oauth_vendor import login
from served_gateway import vendor_plugin
from snapshots import Clock, provider

from gateway_core import Auth, OAuth
from gateway_dashboard_api.accounts.oauth import token_calls
from gateway_dashboard_api.accounts.oauth.background import Keeper
from gateway_dashboard_api.accounts.oauth.protocol import read_device_code, read_grant

pytestmark = pytest.mark.anyio
GOOD = b'{"access_token":"new-canary","token_type":"Bearer","expires_in":60}'
TYPED = (
    b'{"device_code":"d-canary","user_code":"AB-CD","verification_uri":"https://v.example/a",'
    b'"expires_in":900}'
)


class Hostile(FakeVendor):
    """Answers whatever it is told to."""

    def __init__(self) -> None:
        super().__init__(self.answer)
        self.says = MockResponse((GOOD,))

    def answer(self, received: ReceivedRequest) -> MockResponse:
        return self.says


@pytest.fixture
async def hostile() -> AsyncIterator[Hostile]:
    here = Hostile()
    await here.open()
    yield here
    await here.aclose()


@pytest.fixture
async def admin(tmp_path: Path, clock: Clock, hostile: Hostile) -> AsyncIterator[AdminGateway]:
    oauth = OAuth(
        flow="pkce",
        authorize_url=f"{hostile.url}/authorize",
        token_url=f"{hostile.url}/token",
        device_url=f"{hostile.url}/device",
        revoke_url=f"{hostile.url}/revoke",
        client_id="c",
        client_secret="secret-canary",
    )
    fields: dict[str, Any] = {"base_url": "http://127.0.0.1:9/v1", "auth": Auth(type="apikey")}
    spec = provider("bad", "large", oauth=oauth, **fields)
    async with opened(tmp_path, {}, clock, {"logins": vendor_plugin([spec])}) as here:
        yield here


async def exchanged(admin: AdminGateway, status: int) -> dict[str, Any]:
    started = await admin.call("GET", "/api/oauth/bad/authorize")
    body = {"code": "code-canary", "state": started["state"]}
    answer: dict[str, Any] = await admin.call(
        "POST", "/api/oauth/bad/exchange", body, status=status
    )
    return answer


ANSWERS = {
    "no JSON": MockResponse((b"<html>",)),
    "another JSON": MockResponse((b'["access_token"]',)),
    "no token": MockResponse((b"{}",)),
    "an empty token": MockResponse((b'{"access_token":""}',)),
    "a header in the token": MockResponse((b'{"access_token":"a\\r\\nx-evil: 1"}',)),
    "a token with a space": MockResponse((b'{"access_token":"a b"}',)),
    "a long token": MockResponse((b'{"access_token":"' + b"a" * 20_000 + b'"}',)),
    "another kind of token": MockResponse((b'{"access_token":"a","token_type":"mac"}',)),
    "a number for a token": MockResponse((b'{"access_token":[1]}',)),
    "deep nesting": MockResponse((b'{"access_token":' + b"[" * 50_000,)),
    "much": MockResponse((b'{"access_token":"a","x":"' + b"y" * 400_000 + b'"}',)),
    "a wrong encoding": MockResponse((b'{"access_token":"\xff\xfe"}',)),
    "a redirect": MockResponse((b"",), 302, headers={"location": "http://127.0.0.1:9/elsewhere"}),
    "a failure": MockResponse((b"oops",), 500),
    "a failure with a word": MockResponse((b'{"error":"invalid_grant"}',), 503),
    "its own status": MockResponse((b"no",), 401),
}


@pytest.mark.parametrize("answer", ANSWERS.values(), ids=list(ANSWERS))
async def test_such_an_answer_makes_no_account(
    admin: AdminGateway, hostile: Hostile, answer: MockResponse
) -> None:
    hostile.says = answer

    await exchanged(admin, 502)

    assert (await admin.call("GET", "/api/providers"))["connections"] == []
    assert [each.target for each in hostile.received] == ["/token"]


async def test_a_refusal_repeats_no_secret_and_little_text(
    admin: AdminGateway, hostile: Hostile
) -> None:
    words = b"your code-canary and secret-canary " + b"z" * 5000
    body = b'{"error":"invalid_grant","error_description":"' + words + b'"}'
    hostile.says = MockResponse((body,), 400)

    answer = await exchanged(admin, 400)

    assert "invalid_grant" in answer["error"]
    assert len(answer["error"]) < 700


@pytest.mark.parametrize(
    "slow", [MockResponse((GOOD,), delay=30), MockResponse((GOOD,), chunked=True, hang=True)]
)
async def test_a_slow_answer_is_not_waited_for(
    admin: AdminGateway, hostile: Hostile, slow: MockResponse, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(token_calls, "LIMIT", 0.2)
    hostile.says = slow

    answer = await exchanged(admin, 504)

    assert "too long" in answer["error"]


async def test_lifetimes_that_are_none_are_not_believed(
    admin: AdminGateway, hostile: Hostile
) -> None:
    for text, life in (("1e308", 316_224_000.0), ("-5", None), ("0", None), ('"60"', 60)):
        hostile.says = MockResponse((b'{"access_token":"a","expires_in":%s}' % text.encode(),))
        row = (await exchanged(admin, 200))["connection"]
        assert row.get("expiresIn") == life


async def test_a_server_that_fails_is_asked_again_later_and_the_token_kept(
    admin: AdminGateway, hostile: Hostile, clock: Clock
) -> None:
    hostile.says = MockResponse((GOOD.replace(b"}", b',"refresh_token":"r-canary"}'),))
    row = (await exchanged(admin, 200))["connection"]
    hostile.says = MockResponse((b"oops",), 500)
    keeper = Keeper(admin.core)
    clock.now += 50
    for _ in range(3):
        await keeper.look()
    assert len(hostile.received) == 2
    clock.now += 16
    await keeper.look()
    clock.now += 16
    await keeper.look()
    assert len(hostile.received) == 3
    hostile.says = MockResponse((GOOD,))
    clock.now += 16

    await keeper.look()

    assert len(hostile.received) == 4
    stored = await admin.stored(row["id"])
    assert stored == {"accessToken": "new-canary", "refreshToken": "r-canary"}


@pytest.mark.parametrize(
    "body",
    [
        b"{}",
        TYPED.replace(b"https://v.example/a", b"javascript:alert(1)"),
        TYPED.replace(b"AB-CD", b""),
        TYPED.replace(b"AB-CD", b"AB\\u0007CD"),
        TYPED.replace(b"900", b'"soon"'),
        TYPED.replace(b"}", b',"verification_uri_complete":"file:///etc/passwd"}'),
    ],
)
async def test_such_a_code_is_not_shown(admin: AdminGateway, hostile: Hostile, body: bytes) -> None:
    hostile.says = MockResponse((body,))

    await admin.call("GET", "/api/oauth/bad/device-code", status=502)


async def test_a_token_is_not_sent_to_a_host_that_is_not_declared(
    admin: AdminGateway, hostile: Hostile, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A plugin that changes its address afterwards still reaches only what it declared."""
    spec = admin.core.snapshot.registry.providers["bad"]
    policy = admin.core.egress_policy
    reach = policy.reach(spec)
    assert spec.oauth is not None
    assert reach.origins >= {hostile.url}
    moved = login(OAuthServer(), token_url="http://127.0.0.1:1/token")
    monkeypatch.setattr(
        "gateway_dashboard_api.accounts.oauth.routes.login_of", lambda *_: (spec, moved)
    )

    answer = await exchanged(admin, 502)

    assert "may not send to http://127.0.0.1:1" in answer["error"]


def test_labels_of_people_are_labels() -> None:
    def token(claims: str) -> bytes:
        from base64 import urlsafe_b64encode

        middle = urlsafe_b64encode(claims.encode()).decode().rstrip("=")
        return b'{"access_token":"a","id_token":"h.%s.s"}' % middle.encode()

    oauth = OAuth(flow="pkce", authorize_url="", token_url="", client_id="")
    found = {
        claims: read_grant(200, token(claims), oauth).email
        for claims in ('{"email":"ada@id.example"}', '{"email":7}', "[]", "no", '{"email":"a\\nb"}')
    }

    assert list(found.values()) == ["ada@id.example", None, None, None, None]


def test_an_answer_of_before_the_rfc_is_read() -> None:
    code = read_device_code(200, TYPED.replace(b"verification_uri", b"verification_url"))

    assert code.verification_uri == "https://v.example/a"
    assert (code.interval, code.expires_in) == (5.0, 900.0)
