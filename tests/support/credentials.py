"""Every credential that a request may have, and the expected results."""

import re
from collections.abc import Iterator
from typing import Any

from admin_gateway import AdminGateway
from msgspec import Struct
from own_stores import own_stores

from gateway_administration.stores.keys import KeyChange
from gateway_core.http.operations import RouteOperation
from gateway_core.identity.access import RULES, SAFE_METHODS, Access
from gateway_core.identity.credentials import CLI_HEADER, COOKIE

HERE, AWAY = "127.0.0.1", "192.0.2.7"
EVIL = "https://evil.example"
PAST = "2020-01-01T00:00:00.000Z"
FORGED = {"x-gateway-real-ip": "127.0.0.1", "x-gateway-peer-token": "00" * 24}
CLIENT_CLASSES = (Access.PUBLIC, Access.INFERENCE)
"""Classes that accept no session, so that the origin is not checked."""


class Credential(Struct, frozen=True, kw_only=True):
    """One way to authenticate, or to fail to."""

    host: str = AWAY
    """The caller's address."""
    headers: dict[str, str] = {}
    traits: frozenset[str] = frozenset()
    """Of ``local cli session foreign key restricted refused unknown open``."""


def passes(access: Access, credential: Credential, method: str) -> int:
    """200, or the status of the refusal, by the rules."""
    rule, has = RULES[access], credential.traits
    if rule.anyone or (rule.cli and "cli" in has):
        return 200
    if rule.here and "local" not in has:
        return 403
    if rule.local and "local" in has and not (rule.key and "refused" in has):
        return 200
    if rule.session and "session" in has:
        return 403 if "foreign" in has and access not in CLIENT_CLASSES else 200
    if rule.open and "open" in has:
        return 200
    if rule.key and "key" in has:
        is_write = method not in SAFE_METHODS and access is Access.MANAGEMENT
        return 403 if is_write and "restricted" in has else 200
    return 403 if rule.here or "key" in has else 401


def shows(address: str, traits: str, **headers: str) -> Credential:
    named = {name.replace("_", "-"): value for name, value in headers.items()}
    return Credential(host=address, headers=named, traits=frozenset(traits.split()))


async def stored(admin: AdminGateway, **change: Any) -> str:
    """The text of a new key."""
    mint = admin.core.identity.keys.mint
    text = mint.new()
    wanted = KeyChange(name="test", **change)
    await own_stores(admin.core).keys.create(text, mint.digest(text).hex(), mint.machine_id, wanted)
    await admin.core.refresh()
    return text


async def credentials(admin: AdminGateway) -> dict[str, Credential]:
    """All of them, while a login is required. Needs JWT_SECRET."""
    plain, narrow = await stored(admin), await stored(admin, policy={"rpmLimit": 5})
    scoped = await stored(admin, allowed_combos=("team",))
    paused, expired = await stored(admin, is_active=False), await stored(admin, expires_at=PAST)
    session = f"{COOKIE}={admin.core.sessions.issue()}"
    token = admin.core.identity.cli_token
    good = {
        "nobody here": shows(HERE, "local"),
        "nobody away": shows(AWAY, ""),
        "cli here": shows(HERE, "local cli", **{CLI_HEADER: token}),
        "cli away": shows(AWAY, "cli", **{CLI_HEADER: token}),
        "key here": shows(HERE, "local key", authorization=f"Bearer {plain}"),
        "key away": shows(AWAY, "key", x_api_key=plain),
        "session here": shows(HERE, "local session", cookie=session),
        "session away": shows(AWAY, "session", cookie=session),
        "session and key": shows(AWAY, "session key", cookie=session, x_api_key=plain),
    }
    bad = {
        "via proxy": shows(HERE, "", x_gateway_via_proxy="1"),
        "forwarded": shows(HERE, "", x_forwarded_for="127.0.0.1"),
        "forged away": shows(AWAY, "", **FORGED),
        "forged forwarded": shows(HERE, "", x_forwarded_for="127.0.0.1", **FORGED),
        "rebound": shows(HERE, "", host="rebind.example", origin="http://rebind.example"),
        "foreign page": shows(HERE, "", origin=EVIL),
        "wrong cli": shows(AWAY, "", **{CLI_HEADER: token.upper() + "x"}),
        "restricted": shows(AWAY, "key restricted", x_goog_api_key=narrow),
        "scoped": shows(AWAY, "key restricted", x_alt_api_key=scoped),
        "paused here": shows(HERE, "local refused", x_api_key=paused),
        "paused away": shows(AWAY, "refused", x_api_key=paused),
        "expired here": shows(HERE, "local refused", x_api_key=expired),
        "expired away": shows(AWAY, "refused", x_api_key=expired),
        "unknown away": shows(AWAY, "unknown", x_api_key="sk-unknown00"),
        "no session": shows(AWAY, "", cookie=f"{COOKIE}=a.b.c"),
        "foreign session": shows(AWAY, "session foreign", cookie=session, origin=EVIL),
        "null session": shows(AWAY, "session foreign", cookie=session, origin="null"),
    }
    return {**good, **bad}


def open_credentials() -> dict[str, Credential]:
    """Credentials with their results while no login is required."""
    return {
        "open": shows(HERE, "local open"),
        "open page": shows(HERE, "local open", origin="http://localhost:3000"),
        "open away": shows(AWAY, ""),
        "open rebound": shows(HERE, "", host="rebind.example:20128"),
        "open foreign page": shows(HERE, "", origin=EVIL),
        "open via proxy": shows(HERE, "", x_gateway_via_proxy="1"),
        "open forwarded": shows(HERE, "", x_forwarded_for="127.0.0.1"),
    }


def operations(admin: AdminGateway) -> Iterator[RouteOperation]:
    """Everything that is served, the inference endpoints too."""
    for guarded in admin.gateway.app.routes:
        yield from guarded.operations
    for wire in admin.core.snapshot.registry.formats.values():
        for endpoint in wire.endpoints:
            yield RouteOperation(
                method=endpoint.method,
                path=endpoint.path,
                access=Access.INFERENCE,
                purpose="ask",
            )


def address(path: str) -> str:
    """A path of an operation, with a value for each parameter."""
    return re.sub(r"\{[^}]+\}", "x", path)
