"""A gateway that stores a secret of every kind, and searching bytes for them."""

import base64
from collections.abc import AsyncIterator, Iterator
from contextlib import asynccontextmanager
from pathlib import Path
from types import ModuleType
from urllib.parse import quote

import pyotp
from admin_gateway import KEY, AdminGateway, opened, refused
from caller_kinds import with_session
from login_gateway import PASSWORD, SECRET
from msgspec import Struct
from own_stores import own_stores
from web_logins import COOKIES, ORIGIN, Demonstration, browser, plugin

from gateway_core import hookimpl
from gateway_dashboard_api.login.state import PENDING

VARIABLES = {
    "JWT_SECRET": SECRET,
    "INITIAL_PASSWORD": PASSWORD,
    "GATEWAY_WEB_LOGIN_ORIGIN": ORIGIN,
    "ENABLE_TRANSLATOR": "true",
}
ACCOUNT = {
    "sessionToken": "session-canary-0002",
    "providerSpecificData": {
        "cookie": "cookie-canary-0003",
        "clientSecret": "client-canary-0004",
        "deep": {"er": {"accessKey": "deep-canary-0005"}},
        "connectionProxyUrl": "http://me:proxied-word-0006@127.0.0.1:9",
    },
}
SETTINGS = {
    "oidcClientSecret": "oidc-canary-0007",
    "outboundProxyUrl": "http://me:outbound-word-0008@127.0.0.1:9",
    "tool": {"apiKey": "tool-canary-0009", "list": [[{"password": "listed-canary-0010"}]]},
}
POOL = {"name": "pool", "proxyUrl": "socks5://me:pooled-word-0011@127.0.0.1:9"}
PLUGIN = "/api/plugins/settled/settings"
NEW_PASSWORD = "second-canary-word-0012"
STORED = (
    *(KEY, NEW_PASSWORD, COOKIES, "session-canary-0002", "cookie-canary-0003"),
    *("client-canary-0004", "deep-canary-0005", "proxied-word-0006", "oidc-canary-0007"),
    *("outbound-word-0008", "tool-canary-0009", "listed-canary-0010", "pooled-word-0011"),
    "plugin-canary-0013",
)


class PluginSettings(Struct, frozen=True):
    api_key: str = ""


def settled() -> ModuleType:
    """A plugin with settings only."""
    module = ModuleType("settled")
    module.register_settings = hookimpl(lambda: PluginSettings)  # type: ignore[attr-defined]
    return module


@asynccontextmanager
async def open_with_secrets(data_dir: Path) -> AsyncIterator[AdminGateway]:
    """Run a gateway that can store every kind of secret."""
    more = {"pages": plugin(Demonstration()), "settled": settled()}
    async with opened(data_dir, VARIABLES, more=more) as here:
        yield here


def spellings(text: str) -> Iterator[bytes]:
    """Yield the bytes of a text, plain and as base64, hex and in a URL."""
    plain = text.encode()
    yield from (plain, plain.hex().encode(), quote(text, safe="").encode())
    for offset in range(3):
        coded = base64.b64encode(b"\0" * offset + plain)
        inner = coded[4 if offset else 0 : -4]  # Surrounding text changes only the ends.
        yield from (inner, inner.replace(b"+", b"-").replace(b"/", b"_"))


def every_byte(root: Path) -> bytes:
    return b"\n".join(path.read_bytes() for path in root.rglob("*") if path.is_file())


def find_texts(texts: tuple[str, ...], within: bytes) -> set[str]:
    return {text for text in texts for spelt in spellings(text) if spelt in within}


async def enrol(admin: AdminGateway) -> tuple[str, ...]:
    """Switch the second factor on; returns its secret and the backup codes."""
    async with with_session(admin) as here:
        known = {"password": PASSWORD}
        secret = (await here.call("POST", "/api/auth/mfa/setup", known))["secret"]
        body = {**known, "secret": secret, "code": pyotp.TOTP(secret).now()}
        codes = (await here.call("POST", "/api/auth/mfa/enable", body))["backupCodes"]
        changed = {"currentPassword": PASSWORD, "newPassword": NEW_PASSWORD}
        await here.call("PATCH", "/api/settings", changed)
    return (secret, *codes, *(code.replace("-", "") for code in codes))


async def save_captured_account(admin: AdminGateway) -> None:
    """Save an account whose cookie was captured by an assisted login."""
    path = "/api/providers/web-login"
    login = await admin.call("POST", f"{path}/start", {"provider": "pages"})
    async with browser(admin) as popup:
        await popup.get(login["url"])
        await popup.post("/__web_login/pages/", data={"pass": "word"})
        await popup.get("/__web_login/pages/done")
    await admin.call("POST", f"{path}/finish", {"id": login["id"], "name": "main"}, status=201)


async def create_key(admin: AdminGateway, name: str) -> str:
    """Create a gateway key; returns its text, which must not be stored either."""
    made = await admin.call("POST", "/api/keys", {"name": name, "machineId": "any"}, status=201)
    text: str = made["key"]
    return text


async def make_calls(admin: AdminGateway, key: str) -> None:
    """Make recorded calls that succeed, and one whose error repeats the credential."""
    await admin.call("PATCH", "/api/settings", {"enableObservability": True})
    await admin.chat("acme/large", authorization=f"Bearer {key}")
    await admin.client.post(f"/v1/chat/completions?key={key}", json={"model": "acme/large"})
    admin.vendor.written["/chat/completions"] = refused(401, f"Bad key {KEY}, no such key")
    await admin.chat("acme/large", **{"x-api-key": key})
    await admin.core.ledger.flush()
    await admin.core.request_log.flush()


async def store_every_secret(admin: AdminGateway) -> tuple[str, ...]:
    """Store every kind of secret; returns their texts."""
    account = ACCOUNT | {"providerSpecificData": dict(ACCOUNT["providerSpecificData"])}
    await admin.connect(**account)
    await admin.call("PATCH", "/api/settings", SETTINGS)
    await admin.call("POST", "/api/proxy-pools", POOL, status=201)
    await admin.call("PATCH", PLUGIN, {"api_key": "plugin-canary-0013"})
    await save_captured_account(admin)
    factor = await enrol(admin)
    key = await create_key(admin, "one")
    await make_calls(admin, key)
    ticket = await add_ticket(admin)
    return (*STORED, *factor, *ticket, key, admin.core.sessions.issue())


async def add_ticket(admin: AdminGateway) -> tuple[str, str]:
    """Add the ticket of a pending login; returns its text and its value."""
    text, value = "ticket-canary-0014", "value-canary-0015"
    await own_stores(admin.core).tickets.add(PENDING, text, value, "")
    return text, value
