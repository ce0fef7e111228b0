"""Signing in at an OpenID provider: a real one on loopback, and a browser between the two."""

import time
from base64 import b64decode
from collections.abc import Iterator
from pathlib import Path
from typing import Any
from urllib.parse import parse_qsl, urlencode, urlsplit

import anyio
import httpx2
import login_gateway
import pytest
from identity_provider import CLIENT, EMAIL, SECRET, IdentityProvider, running
from login_gateway import PASSWORD, Browser, LoginGateway
from login_gateway import SECRET as JWT_SECRET
from served_gateway import serve_gateway

Log = pytest.LogCaptureFixture
pytestmark = [
    pytest.mark.anyio,
    pytest.mark.filterwarnings("ignore::DeprecationWarning"),  # Of the provider's own parts.
]
START = "/api/auth/oidc/start"
CALLBACK = "/api/auth/oidc/callback"
TEST = "/api/auth/oidc/test"
FAILED = "/login?error="
COOKIES = ("oidc_state", "oidc_nonce", "oidc_code_verifier", "oidc_journey")


@pytest.fixture(scope="module")
def provider() -> Iterator[IdentityProvider]:
    with running() as here:
        here.register(f"http://127.0.0.1{CALLBACK}")
        yield here


@pytest.fixture
async def browser(server: LoginGateway, provider: IdentityProvider) -> Browser:
    """Before a gateway that the provider knows."""
    server.wall.now = time.time()
    await server.store(authMode="both", **stored(provider))
    return await server.browser()


CLIENT_OF = {"oidcClientId": CLIENT, "oidcClientSecret": SECRET}


def stored(provider: IdentityProvider) -> dict[str, str]:
    return {"oidcIssuerUrl": provider.issuer, **CLIENT_OF}


async def sent(browser: Browser, **query: str) -> str:
    """Where the gateway sends the browser."""
    answer = await browser.get(START, params=query)
    assert answer.status_code == 302, answer.text
    return str(answer.headers["location"])


async def back(browser: Browser, url: str) -> str:
    """Where the gateway sends the browser when it comes back."""
    answer = await browser.get(url)
    assert answer.status_code == 302, answer.text
    assert answer.headers["cache-control"] == "no-store"
    return str(answer.headers["location"])


def changed(url: str, **query: str) -> str:
    parts = urlsplit(url)
    return parts._replace(query=urlencode({**dict(parse_qsl(parts.query)), **query})).geturl()


async def test_signing_in_at_the_provider(
    server: LoginGateway, browser: Browser, provider: IdentityProvider
) -> None:
    place = await back(browser, provider.sign_in(await sent(browser, returnTo="/dashboard/keys")))

    assert place == "/dashboard/keys"
    assert await browser.is_in()
    shown = await browser.call("GET", "/api/auth/status")
    assert {name: shown[name] for name in shown if name.startswith(("oidc", "login", "disp"))} == {
        "oidcConfigured": True,
        "oidcLoginLabel": "Sign in with OIDC",
        "oidcLogin": True,
        "loginMethod": "OIDC",
        "displayName": EMAIL,
        "oidcName": EMAIL,
        "oidcEmail": EMAIL,
    }
    assert set(COOKIES).isdisjoint(browser.cookies)


async def test_the_cookies_of_the_way_are_out_of_reach(browser: Browser) -> None:
    answer = await browser.get(START)

    for line in answer.headers.get_list("set-cookie"):
        parts = {part.lower() for part in line.split("; ")[1:]}
        assert {"httponly", "samesite=lax", "path=/", "max-age=600"} <= parts
        assert not any(part.startswith("domain") for part in parts)
    assert set(browser.cookies) == set(COOKIES)


async def test_the_cookies_are_sealed(browser: Browser, provider: IdentityProvider) -> None:
    url = provider.sign_in(await sent(browser, returnTo="/dashboard/canary"))
    sealed = browser.cookies["oidc_journey"]
    assert len(sealed) < 3000
    for text in (provider.issuer, "canary", browser.cookies["oidc_code_verifier"]):
        assert text not in str(b64decode(sealed.partition(".")[2] + "==", b"-_"))
    spoilt = f"{sealed[:60]}{'B' if sealed[60] == 'A' else 'A'}{sealed[61:]}"
    browser.cookies.set("oidc_journey", spoilt, domain="127.0.0.1", path="/")

    assert await back(browser, url) == f"{FAILED}oidc_expired"
    assert not await browser.is_in()


async def test_of_many_that_come_back_at_the_same_time_one_is_signed_in(
    server: LoginGateway, browser: Browser, provider: IdentityProvider
) -> None:
    url = provider.sign_in(await sent(browser))
    ways = [await server.browser() for _ in range(4)]
    places = list[str]()

    async def come(way: Browser) -> None:
        way.cookies.update(browser.cookies)
        places.append(await back(way, url))

    async with anyio.create_task_group() as together:
        for way in ways:
            together.start_soon(come, way)

    assert sorted(places)[0] == "/dashboard"
    assert all(place.startswith(FAILED) for place in sorted(places)[1:])


@pytest.mark.parametrize("name", COOKIES)
async def test_another_browser_cannot_finish_what_one_began(
    server: LoginGateway, browser: Browser, provider: IdentityProvider, name: str
) -> None:
    url = provider.sign_in(await sent(browser))
    own = await server.browser()
    await sent(own)
    browser.cookies.set(name, own.cookies[name], domain="127.0.0.1", path="/")
    assert len({each.name for each in browser.cookies.jar}) == 4

    assert await back(browser, url) == f"{FAILED}oidc_expired"

    assert not await browser.is_in()


async def test_a_browser_without_cookies_ends_no_other_login(
    server: LoginGateway, browser: Browser, provider: IdentityProvider
) -> None:
    url = provider.sign_in(await sent(browser))

    assert await back(await server.browser(), url) == f"{FAILED}oidc_expired"

    assert await back(browser, url) == "/dashboard"


async def test_a_state_counts_once(
    server: LoginGateway, browser: Browser, provider: IdentityProvider
) -> None:
    url = provider.sign_in(await sent(browser))
    cookies = dict(browser.cookies)
    await back(browser, url)
    again = await server.browser()
    again.cookies.update(cookies)

    assert await back(again, url) == f"{FAILED}oidc_expired"
    assert not await again.is_in()


async def test_the_way_back_may_lead_to_another_worker(
    server: LoginGateway,
    browser: Browser,
    provider: IdentityProvider,
    tmp_path: Path,
    variables: dict[str, str],
) -> None:
    url = provider.sign_in(await sent(browser))
    async with login_gateway.opened(tmp_path, variables, shares_data=True) as worker:
        worker.wall.now = server.wall.now
        other = await worker.browser()
        other.cookies.update(browser.cookies)

        assert await back(other, url) == "/dashboard"

        assert await other.is_in()
    assert await back(browser, url) == f"{FAILED}oidc_expired"


async def test_a_state_lasts_ten_minutes(
    server: LoginGateway, browser: Browser, provider: IdentityProvider
) -> None:
    url = provider.sign_in(await sent(browser))

    server.pass_time(600)

    assert await back(browser, url) == f"{FAILED}oidc_expired"


@pytest.mark.parametrize(
    ("change", "reason"),
    [
        ({"state": "another"}, "oidc_expired"),
        ({"state": ""}, "oidc_expired"),
        ({"error": "access_denied"}, "oidc_refused"),
        ({"code": ""}, "oidc_refused"),
    ],
)
async def test_a_return_that_is_not_right_leads_to_the_login_page(
    browser: Browser, provider: IdentityProvider, change: dict[str, str], reason: str
) -> None:
    url = provider.sign_in(await sent(browser))

    assert await back(browser, changed(url, **change)) == FAILED + reason
    assert not await browser.is_in()


async def test_a_wrong_client_secret_does_not_sign_in(
    server: LoginGateway, browser: Browser, provider: IdentityProvider, caplog: Log
) -> None:
    url = provider.sign_in(await sent(browser))
    await server.store(oidcClientSecret="another-canary")

    assert await back(browser, url) == f"{FAILED}oidc_failed"
    assert "did not accept the code" in caplog.text
    assert "canary" not in caplog.text


@pytest.mark.parametrize(
    "change",
    [{"oidcIssuerUrl": "http://127.0.0.1:9"}, {"oidcClientId": "another"}],
    ids=["issuer", "client"],
)
async def test_a_login_at_another_provider_fails_and_gets_no_secret(
    server: LoginGateway, browser: Browser, provider: IdentityProvider, change: dict[str, str]
) -> None:
    url = provider.sign_in(await sent(browser))
    await server.store(**change)

    assert await back(browser, url) == f"{FAILED}oidc_expired"
    assert not await browser.is_in()


async def test_a_token_from_another_time_does_not_sign_in(
    server: LoginGateway, browser: Browser, provider: IdentityProvider, caplog: Log
) -> None:
    server.wall.now += 7200
    url = provider.sign_in(await sent(browser))

    assert await back(browser, url) == f"{FAILED}oidc_failed"
    assert "cannot be trusted" in caplog.text


@pytest.mark.parametrize(
    "target",
    [
        *("//evil.example", "https://evil.example", "/\\evil.example", "\\\\evil.example"),
        *("dashboard", "/a\\b", "/a\r\nset-cookie: x=y", "/ä", "/" + "a" * 600, ""),
    ],
)
async def test_the_login_redirects_to_no_other_site(
    browser: Browser, provider: IdentityProvider, target: str
) -> None:
    url = provider.sign_in(await sent(browser, returnTo=target))

    assert await back(browser, url) == "/dashboard"


async def test_a_new_password_ends_these_sessions_too(
    server: LoginGateway, browser: Browser, provider: IdentityProvider
) -> None:
    await back(browser, provider.sign_in(await sent(browser)))
    other = await server.browser()
    await other.enter(PASSWORD)
    body = {"newPassword": "second-canary-word", "currentPassword": PASSWORD}

    await other.call("PATCH", "/api/settings", body)

    assert not await browser.is_in()


async def test_an_oidc_session_keeps_its_name_after_a_change_of_password(
    browser: Browser, provider: IdentityProvider
) -> None:
    await back(browser, provider.sign_in(await sent(browser)))
    body = {"newPassword": "second-canary-word", "currentPassword": PASSWORD}

    await browser.call("PATCH", "/api/settings", body)

    assert (await browser.call("GET", "/api/auth/status"))["oidcName"] == EMAIL


@pytest.mark.parametrize(
    "change",
    [{"authMode": "password"}, {"oidcClientId": ""}, {"oidcIssuerUrl": ""}],
    ids=["mode", "client", "issuer"],
)
async def test_it_is_shut_unless_it_is_set_up(
    server: LoginGateway, browser: Browser, change: dict[str, str]
) -> None:
    await server.store(**change)

    for path in (START, CALLBACK):
        assert (await browser.call("GET", path, status=403))["code"] == "oidc_off"


async def test_an_unreachable_provider_redirects_to_the_login_page(
    server: LoginGateway, browser: Browser
) -> None:
    await server.store(oidcIssuerUrl="http://127.0.0.1:9")

    assert await sent(browser) == f"{FAILED}oidc_unreachable"


async def test_discovery_is_cached_for_a_few_minutes(
    server: LoginGateway, browser: Browser, provider: IdentityProvider
) -> None:
    await sent(browser)
    (until, known), *_ = server.admin.login.providers.values()
    await sent(browser)
    assert list(server.admin.login.providers.values()) == [(until, known)]

    server.monotonic.now = until
    await sent(browser)

    assert list(server.admin.login.providers.values()) == [(until + 300, known)]


@pytest.mark.parametrize(
    ("secret", "found"), [(SECRET, True), ("wrong-canary", False)], ids=["right", "wrong"]
)
async def test_a_look_at_a_provider_and_a_secret(
    server: LoginGateway, provider: IdentityProvider, secret: str, found: bool
) -> None:
    operator = await server.command_line()
    body = {"issuerUrl": provider.issuer, "clientId": CLIENT, "clientSecret": secret}

    reported = await operator.call("POST", TEST, body)

    assert reported["success"] is True
    assert reported["issuer"] == provider.issuer
    assert reported["tokenEndpoint"].startswith(provider.issuer)
    assert (reported["secretProbe"]["tested"], reported["secretProbe"]["valid"]) == (True, found)
    assert "canary" not in str(reported)


async def test_a_stored_secret_is_shown_to_its_own_issuer_only(
    server: LoginGateway, provider: IdentityProvider
) -> None:
    operator = await server.command_line()
    body = {"issuerUrl": provider.issuer, "clientId": CLIENT}
    await server.store(**stored(provider))

    own = await operator.call("POST", TEST, body)
    await server.store(oidcIssuerUrl="https://elsewhere.example")
    other = await operator.call("POST", TEST, body)

    assert own["secretProbe"]["valid"] is True
    assert other["secretProbe"] == {
        "tested": False,
        "valid": None,
        "message": "There is no client secret to test",
    }


async def test_only_an_operator_looks(server: LoginGateway, provider: IdentityProvider) -> None:
    stranger = await server.browser()
    body = {"issuerUrl": provider.issuer, "clientId": CLIENT}

    await stranger.call("POST", TEST, body, status=401)


@pytest.mark.parametrize("path", ["oidc", "oidc/start/", "oidc/start/x", "oidc/callback/x"])
async def test_no_other_path_is_public(server: LoginGateway, browser: Browser, path: str) -> None:
    answer = await browser.get(f"/api/auth/{path}")

    assert answer.status_code in (302, 401, 404)
    assert "auth_token" not in browser.cookies


async def test_the_mode_takes_its_known_values_only(server: LoginGateway) -> None:
    operator = await server.command_line()

    answer = await operator.call("PATCH", "/api/settings", {"authMode": "oicd"}, status=400)

    assert answer["error"] == "Invalid authMode"
    assert server.settings.auth_mode == "password"


@pytest.mark.parametrize(
    "change",
    [
        {"oidcClientId": ""},
        {"oidcClientSecret": "a-wrong-canary"},
        {"oidcIssuerUrl": "http://127.0.0.1:9"},
    ],
    ids=["client", "wrong secret", "unreachable"],
)
async def test_oidc_alone_is_refused_until_the_provider_passes_its_test(
    server: LoginGateway, browser: Browser, change: dict[str, Any]
) -> None:
    operator = await server.command_line()

    answer = await operator.call(
        "PATCH", "/api/settings", {"authMode": "oidc", **change}, status=400
    )

    assert answer["code"] == "oidc_not_tested"
    assert server.settings.auth_mode == "both"
    await operator.call("PATCH", "/api/settings", {"authMode": "oidc"})
    assert server.settings.auth_mode == "oidc"

    # From here on, no change may take away the only way in.
    answer = await operator.call("PATCH", "/api/settings", change, status=400)
    assert answer["code"] == "oidc_not_tested"
    await operator.call("PATCH", "/api/settings", {"authMode": "password", **change})


def test_over_a_socket(tmp_path: Path, provider: IdentityProvider) -> None:
    settings: dict[str, Any] = {"authMode": "oidc", **stored(provider)}
    with (
        serve_gateway(tmp_path, {}, variables={"JWT_SECRET": JWT_SECRET}) as here,
        httpx2.Client(base_url=here.url) as browser,
    ):
        core = here.gateway.core
        here.do(core.stores.settings.patch(settings))
        here.do(core.refresh())
        provider.register(f"{here.url}{CALLBACK}")

        there = provider.sign_in(browser.get(START).headers["location"])
        home = browser.get(there)

        assert home.headers["location"] == "/dashboard"
        assert browser.get("/api/auth/status").json()["oidcName"] == EMAIL
    provider.register(f"http://127.0.0.1{CALLBACK}")
