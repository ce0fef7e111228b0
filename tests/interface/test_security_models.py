"""A key that may call one model reaches no other, in any spelling (3)."""

from collections.abc import AsyncIterator
from pathlib import Path
from typing import Any
from urllib.parse import quote

import gateway_format_gemini
import msgspec
import pytest
from admin_gateway import AdminGateway, client_of, opened
from caller_kinds import with_key

pytestmark = pytest.mark.anyio
ASKED = {"role": "user", "content": "Hello"}
MESSAGES = b'[{"role":"user","content":"Hello"}]'
SPELLINGS = (
    *("acme/large", "ac/large", " acme/large", "acme/large ", "acme//large", "ACME/large"),
    *("acme/LARGE", "large", "acme/large:free", "acme/large(high)", "acme/small,acme/large"),
    *("acme/small/../large", "acme/%6carge", "acme/small\u0000acme/large", "auto/acme", "auto"),
    *("parrot", "team", "models/acme/large", "acme/models/large", "acme/large-thinking"),
    *("acme/large@latest", "acme/large#small", "acme/small|large", "ac/acme/large", "*", "acme/*"),
)
BODIES = (
    b'{"model":"acme/small","model":"acme/large","messages":%b}',
    b'{"model":"acme/small","mod\\u0065l":"acme/large","messages":%b}',
    b'{"model":"acme/small","Model":"large","messages":%b}',
    b'{"model":"acme/small","MODEL":"large","messages":%b}',
    b'{"model":["acme/large"],"messages":%b}',
    b'{"model":{"a":"acme/large"},"messages":%b}',
    b'{"model":null,"Model":"acme/large","messages":%b}',
)
PATHS = ("/v1/chat/completions", "/v1/messages", "/v1/responses", "/v1/api/chat")


@pytest.fixture
def anyio_backend() -> str:
    return "asyncio"


@pytest.fixture
async def admin(tmp_path: Path) -> AsyncIterator[AdminGateway]:
    async with opened(tmp_path, {}, more={"format-gemini": gateway_format_gemini}) as here:
        await here.connect()
        await here.call("PUT", "/api/models/alias", {"model": "acme/large", "alias": "parrot"})
        team = {"name": "team", "models": ["acme/small", "acme/large"]}
        await here.call("POST", "/api/combos", team, status=201)
        yield here


POLICIES: dict[str, dict[str, Any]] = {
    "allowed": {"allowedModels": ["acme/small"]},
    "rules": {"modelAccess": {"mode": "allow", "patterns": ["acme/small"]}},
    "denied": {"modelAccess": {"mode": "deny", "patterns": ["*large*"]}, "allowAutoCombos": False},
}


def reached(admin: AdminGateway) -> set[str]:
    """Every model in requests to the vendor, under any spelling of the member."""
    bodies = [
        msgspec.json.decode(received.body) for received in admin.vendor.received if received.body
    ]
    return {
        str(value).lower()
        for body in bodies
        for name, value in body.items()
        if name.casefold() == "model"
    }


@pytest.mark.parametrize("policy", ["allowed", "rules"])
async def test_no_spelling_reaches_another_model(admin: AdminGateway, policy: str) -> None:
    async with with_key(admin, **POLICIES[policy]) as here:
        assert (await here.chat("acme/small")).status_code == 200
        for spelling in SPELLINGS:
            for path in PATHS:
                body = {"model": spelling, "max_tokens": 9, "input": "x", "messages": []}
                body["messages"] = [{"role": "user", "content": "Hello"}]
                await here.client.post(path, json=body)
            for suffix in ("generateContent", "streamGenerateContent", "countTokens"):
                await here.client.post(
                    f"/v1beta/models/{quote(spelling, safe='')}:{suffix}",
                    json={"model": "acme/small", "contents": [{"parts": [{"text": "Hello"}]}]},
                )

    assert reached(admin) == {"small"}


async def test_a_denied_model_is_reached_by_none_of_its_names(admin: AdminGateway) -> None:
    async with with_key(admin, **POLICIES["denied"]) as here:
        for spelling in (
            *("acme/large", "ac/large", "large", "parrot", " acme/large", "acme/LARGE"),
            *("acme//large", "acme/./large", "acme/x/../large", "acme/large/", "acme/large\u00a0"),
        ):
            assert (await here.chat(spelling)).status_code in (400, 403, 404), spelling

    assert "large" not in reached(admin)


@pytest.mark.parametrize("body", BODIES, ids=range(len(BODIES)))
async def test_no_second_member_names_another_model(admin: AdminGateway, body: bytes) -> None:
    async with with_key(admin, allowedModels=["acme/small"]) as here:
        for path in PATHS:
            await here.client.post(
                path,
                content=body % MESSAGES,
                headers={"content-type": "application/json"},
            )

    assert reached(admin) <= {"small"}


@pytest.mark.parametrize(
    "member", ["models", "fallbacks", "Models", "fallbac\u212as", "model\u017f"]
)
async def test_a_key_with_rules_may_not_name_fallback_models(
    admin: AdminGateway, member: str
) -> None:
    body = {"model": "acme/small", member: ["acme/large"], "messages": [ASKED]}
    bound, free = {}, {}
    for policy, found in ((POLICIES["rules"], bound), ({}, free)):
        made = {"name": "k", "machineId": "m", "policy": policy}
        text = (await admin.call("POST", "/api/keys", made, status=201))["key"]
        async with client_of(admin.gateway, operator=False) as caller:
            response = await caller.post(
                "/v1/chat/completions", json=body, headers={"x-api-key": text}
            )
        found["status"] = response.status_code

    assert (bound["status"], free["status"]) == (403, 200)
    assert len(admin.vendor.calls("/chat/completions")) == 1


@pytest.mark.parametrize("family", ["auto/acme", "auto/nobody", "auto/llama", " auto/glm"])
async def test_a_key_without_virtual_combos_reaches_no_family(
    admin: AdminGateway, family: str
) -> None:
    async with with_key(admin, allowAutoCombos=False) as here:
        answer = await here.chat(family)

    assert answer.status_code == 403
    assert answer.json()["error"]["code"] == "combo_not_allowed"
