"""No secret is in a log line, and a line is one line (S33)."""

import asyncio
import io
import logging
from collections.abc import AsyncIterator, Iterator
from contextlib import contextmanager
from pathlib import Path
from urllib.parse import quote

import pytest
from admin_gateway import KEY, AdminGateway
from caller_kinds import with_session
from gateway_process import running
from login_gateway import PASSWORD, Browser
from real_proxy import VENDOR, real_proxy
from stored_secrets import NEW_PASSWORD, find_texts, open_with_secrets, store_every_secret
from unnormalized_requests import call_app, raw_request, send_raw

pytestmark = pytest.mark.anyio
NASTY = ("a\r\nERROR forged", "\x1b[31mred\x1b]0;title\x07", "b" * 65536, "c\u2028\u0085d")


@pytest.fixture
def anyio_backend() -> str:
    return "asyncio"


@pytest.fixture
async def admin(tmp_path: Path) -> AsyncIterator[AdminGateway]:
    async with open_with_secrets(tmp_path) as here:
        yield here


@contextmanager
def printed() -> Iterator[io.StringIO]:
    """Every record of every logger from DEBUG up, tracebacks too, as a file would have them.

    What this test's own client says of its requests is left out.
    """
    text = io.StringIO()
    handler = logging.StreamHandler(text)
    handler.addFilter(lambda record: record.name != "httpx2")
    handler.setFormatter(logging.Formatter("%(levelname)s %(name)s %(message)s"))
    root = logging.getLogger()
    before = root.level
    root.addHandler(handler)
    root.setLevel(logging.DEBUG)
    try:
        yield text
    finally:
        root.removeHandler(handler)
        root.setLevel(before)


async def test_no_secret_of_a_whole_day_is_logged(admin: AdminGateway) -> None:
    with printed() as text:
        secrets = await store_every_secret(admin)
        browser = Browser(admin.gateway, "127.0.0.1", "http://127.0.0.1")
        async with browser:
            await browser.post("/api/auth/login", json={"password": "wrong-canary-word"})
            await browser.post("/api/auth/login", json={"password": NEW_PASSWORD})
        async with with_session(admin) as here:
            for row in (await admin.call("GET", "/api/keys"))["keys"]:
                await here.call("GET", f"/api/keys/{row['id']}/reveal")
        for row in (await admin.call("GET", "/api/providers"))["connections"]:
            if row["provider"] == "acme":
                await admin.client.post(f"/api/providers/{row['id']}/test")
                await admin.client.get(f"/api/providers/{row['id']}/models")
        await admin.core.stores.database.execute("ALTER TABLE combos RENAME TO gone")
        await admin.client.post("/api/combos", json={"name": secrets[0], "models": []})
        await admin.client.get("/api/combos")
    logged = text.getvalue()

    assert "no such table" in logged
    assert "Traceback" in logged
    assert find_texts((*secrets, PASSWORD, "wrong-canary-word"), logged.encode()) == set()


async def test_the_console_shows_no_secret_either(admin: AdminGateway) -> None:
    secrets = await store_every_secret(admin)
    logging.getLogger("gateway_core").warning("the vendor says %s", secrets[0])
    logging.getLogger("gateway_dashboard_api").warning("Bearer %s", secrets[-1])

    await asyncio.sleep(0)
    shown = await admin.client.get("/api/translator/console-logs")

    assert "the vendor says" in shown.text
    assert find_texts(secrets, shown.content) == set()


@pytest.mark.parametrize("scheme", ["http", "socks5"])
async def test_requests_through_a_proxy_log_no_password_and_no_key(
    admin: AdminGateway, scheme: str
) -> None:
    async with real_proxy(scheme, "me:first-proxied-word") as proxy:
        data = {"baseUrl": f"http://{VENDOR}:{admin.vendor.port}/v1"}
        for number, user in enumerate((proxy.user, "me:second-proxied-word")):
            pool = {"name": f"p{number}", "proxyUrl": proxy.url_for(user), "strictProxy": True}
            made = (await admin.call("POST", "/api/proxy-pools", pool, status=201))["proxyPool"]
            await admin.connect(
                name=f"n{number}", proxyPoolId=made["id"], providerSpecificData=data
            )
        with printed() as text:
            logging.getLogger("control").debug("listening")
            statuses = [(await admin.chat("acme/large")).status_code]
            first = (await admin.call("GET", "/api/providers"))["connections"][0]
            await admin.call("PUT", f"/api/providers/{first['id']}", {"isActive": False})
            statuses.append((await admin.chat("acme/large")).status_code)

    assert statuses == [200, 502]
    assert "listening" in text.getvalue()
    canaries = (KEY, "first-proxied-word", "second-proxied-word")
    assert find_texts(canaries, text.getvalue().encode()) == set()


def check(output: str) -> None:
    """One event is one line, without control characters."""
    for line in output.splitlines():
        assert line.isprintable() or line.replace("\t", "").isprintable(), line[:200]
        assert len(line) < 8192, line[:200]
        assert not line.startswith("ERROR forged")


async def test_no_input_of_a_caller_adds_a_log_line(admin: AdminGateway) -> None:
    await admin.connect()
    with printed() as text:
        for nasty in NASTY:
            await admin.chat(nasty)
            await admin.chat(f"acme/{nasty}")
            for path in (f"/v1/models/{quote(nasty[:2000])}", f"/api/{quote(nasty[:2000])}"):
                await admin.client.get(path)
            shown = nasty.encode("ascii", "replace").decode().replace("\r", "").replace("\n", "")
            agent = {"user-agent": shown, "x-request-id": shown, "referer": shown}
            await call_app(admin.gateway.app, "/v1/models", headers=agent)
        admin.vendor.key = "other"
        await admin.chat("acme/large")

    check(text.getvalue())


def test_a_process_prints_no_key_of_a_query(
    tmp_path: Path, capfd: pytest.CaptureFixture[str]
) -> None:
    body = b'{"model":"echo/echo","messages":[{"role":"user","content":"hi"}]}'
    lines = ("Host: 127.0.0.1", "Content-Type: application/json", "User-Agent: x\x1b[31m")
    with running(tmp_path, variables={"LOG_LEVEL": "debug"}) as here:
        for path in ("/v1/chat/completions", "/v1/nowhere", "/api/keys", "/%zz"):
            for name in ("key", "api_key", "access_token"):
                target = f"{path}?{name}=sk-queried-canary".encode()
                for headers in (
                    lines,
                    lines[:2],
                    (*lines[:2], "Authorization: Bearer sk-canary-01"),
                ):
                    send_raw(here.url, raw_request(target, *headers, method="POST", body=body))
                    send_raw(here.url, raw_request(target, *headers))
    out, err = capfd.readouterr()

    assert "canary" not in here.printed + out + err
    check(out + err)
