"""A gateway that holds a secret of every kind, and the search for them in bytes."""

import base64
from collections.abc import AsyncIterator, Iterator
from contextlib import asynccontextmanager
from pathlib import Path
from types import ModuleType
from urllib.parse import quote

import pyotp
from audiences import by_session
from front_door import PASSWORD, SECRET
from msgspec import Struct
from office import KEY, Office, opened, refused
from web_logins import COOKIES, ORIGIN, Demonstration, browser, plugin

from gateway_core import hookimpl
from gateway_dashboard_api.login.state import PENDING

VARIABLES = {
    "JWT_SECRET": SECRET,
    "INITIAL_PASSWORD": PASSWORD,
    "GATEWAY_WEB_LOGIN_ORIGIN": ORIGIN,
    "ENABLE_REQUEST_LOGS": "true",
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
    """A plugin that has settings and nothing else."""
    module = ModuleType("settled")
    module.register_settings = hookimpl(lambda: PluginSettings)  # type: ignore[attr-defined]
    return module


@asynccontextmanager
async def hoarding(data_dir: Path) -> AsyncIterator[Office]:
    """A gateway at which every kind of secret can be saved."""
    more = {"pages": plugin(Demonstration()), "settled": settled()}
    async with opened(data_dir, VARIABLES, more=more) as here:
        yield here


def spellings(text: str) -> Iterator[bytes]:
    """The bytes of a text, and what base64, hex and a URL make of them."""
    plain = text.encode()
    yield from (plain, plain.hex().encode(), quote(text, safe="").encode())
    for offset in range(3):
        coded = base64.b64encode(b"\0" * offset + plain)
        inner = coded[4 if offset else 0 : -4]  # What is around it changes only the ends.
        yield from (inner, inner.replace(b"+", b"-").replace(b"/", b"_"))


def every_byte(root: Path) -> bytes:
    return b"\n".join(path.read_bytes() for path in root.rglob("*") if path.is_file())


def found(texts: tuple[str, ...], within: bytes) -> set[str]:
    return {text for text in texts for spelt in spellings(text) if spelt in within}


async def enrol(office: Office) -> tuple[str, ...]:
    """Switch the second factor on; gives its secret and the backup codes."""
    async with by_session(office) as here:
        known = {"password": PASSWORD}
        secret = (await here.ask("POST", "/api/auth/mfa/setup", known))["secret"]
        body = {**known, "secret": secret, "code": pyotp.TOTP(secret).now()}
        codes = (await here.ask("POST", "/api/auth/mfa/enable", body))["backupCodes"]
        changed = {"currentPassword": PASSWORD, "newPassword": NEW_PASSWORD}
        await here.ask("PATCH", "/api/settings", changed)
    return (secret, *codes, *(code.replace("-", "") for code in codes))


async def sign_in(office: Office) -> None:
    """Save an account whose cookie was captured by an assisted login."""
    path = "/api/providers/web-login"
    login = await office.ask("POST", f"{path}/start", {"provider": "pages"})
    async with browser(office) as visitor:
        await visitor.get(login["url"])
        await visitor.post("/__web_login/pages/", data={"pass": "word"})
        await visitor.get("/__web_login/pages/done")
    await office.ask("POST", f"{path}/finish", {"id": login["id"], "name": "main"}, status=201)


async def told(office: Office, name: str) -> str:
    """The text of a new gateway key, which must not be stored either."""
    made = await office.ask("POST", "/api/keys", {"name": name, "machineId": "any"}, status=201)
    text: str = made["key"]
    return text


async def work(office: Office, key: str) -> None:
    """Calls that succeed, and one whose refusal repeats the credential, all of them noted."""
    await office.ask("PATCH", "/api/settings", {"enableObservability": True})
    await office.chat("acme/large", authorization=f"Bearer {key}")
    await office.client.post(f"/v1/chat/completions?key={key}", json={"model": "acme/large"})
    office.vendor.said["/chat/completions"] = refused(401, f"Bad key {KEY}, no such key")
    await office.chat("acme/large", **{"x-api-key": key})
    await office.core.ledger.flush()
    await office.core.request_log.flush()


async def filled(office: Office) -> tuple[str, ...]:
    """Store every kind of secret there is, and give their texts."""
    account = ACCOUNT | {"providerSpecificData": dict(ACCOUNT["providerSpecificData"])}
    await office.connect(**account)
    await office.ask("PATCH", "/api/settings", SETTINGS)
    await office.ask("POST", "/api/proxy-pools", POOL, status=201)
    await office.ask("PATCH", PLUGIN, {"api_key": "plugin-canary-0013"})
    await sign_in(office)
    factor = await enrol(office)
    key = await told(office, "one")
    await work(office, key)
    ticket = await held(office)
    return (*STORED, *factor, *ticket, key, office.core.sessions.issue())


async def held(office: Office) -> tuple[str, str]:
    """A ticket of somebody who is half-way in, and what it stands for."""
    text, value = "ticket-canary-0014", "value-canary-0015"
    await office.core.stores.tickets.add(PENDING, text, value, "")
    return text, value
