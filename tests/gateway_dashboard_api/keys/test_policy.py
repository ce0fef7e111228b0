"""Which models a key may call, whatever they are called by."""

from typing import Any

import pytest
from admin_gateway import AdminGateway
from gateway_keys import bearer, chat, key_for, remote

pytestmark = pytest.mark.anyio
ALLOW = "allow"
DENY = "deny"


def access(mode: str, *patterns: str) -> dict[str, Any]:
    return {"modelAccess": {"mode": mode, "patterns": list(patterns)}}


@pytest.mark.parametrize(
    ("rules", "model", "is_allowed"),
    [
        ({}, "acme/large", True),
        ({"allowedModels": []}, "acme/large", True),
        ({"allowedModels": ["acme/large"]}, "acme/large", True),
        ({"allowedModels": ["acme/large"]}, "ac/large", True),
        ({"allowedModels": ["ac/large"]}, "acme/large", True),
        ({"allowedModels": ["acme/large"]}, "short", True),
        ({"allowedModels": ["short"]}, "short", True),
        ({"allowedModels": ["short"]}, "acme/large", False),
        ({"allowedModels": ["acme/*"]}, "acme/large", False),
        ({"allowedModels": ["acme/small"]}, "acme/large", False),
        (access("all", "x"), "acme/large", True),
        (access(ALLOW), "acme/large", False),
        (access(ALLOW, "ACME/*"), "acme/large", True),
        (access(ALLOW, "ac/l*e"), "acme/large", True),
        (access(ALLOW, "sho*"), "short", True),
        (access(ALLOW, "sho*"), "acme/large", False),
        (access(ALLOW, "acme/small"), "short", False),
        (access(DENY), "acme/large", True),
        (access(DENY, "ac/*"), "acme/large", False),
        (access(DENY, "acme/*"), "short", False),
        (access(DENY, "acme/small"), "acme/large", True),
        ({"allowedModels": ["acme/large"], **access(DENY, "*large")}, "acme/large", False),
        ({"allowedModels": ["acme/large"], **access(DENY, "*small")}, "acme/large", True),
    ],
    ids=str,
)
async def test_a_model_is_checked_under_all_its_names(
    admin: AdminGateway, rules: dict[str, Any], model: str, is_allowed: bool
) -> None:
    await admin.connect()
    await admin.call("PUT", "/api/models/alias", {"model": "acme/large", "alias": "short"})
    key = await key_for(admin, **rules)
    async with remote(admin) as client:
        answer = await chat(client, key, model)

    assert answer.status_code == (200 if is_allowed else 403)
    if not is_allowed:
        error = answer.json()["error"]
        assert error["message"] == f'Model "{model}" is not allowed for this API key'
        assert admin.vendor.calls("/chat/completions") == []


@pytest.mark.parametrize(
    ("rules", "status"),
    [
        ({}, 200),
        ({"allowedCombos": ["best"]}, 200),
        ({"allowedCombos": ["other"]}, 403),
        ({"allowedModels": ["acme/small"]}, 200),
        ({"allowedModels": ["best"]}, 403),
        (access(DENY, "*large"), 200),
        (access(DENY, "*large", "*small"), 403),
        (access(ALLOW, "best"), 403),
    ],
    ids=str,
)
async def test_a_combo_is_allowed_by_its_name_and_its_members_by_theirs(
    admin: AdminGateway, rules: dict[str, Any], status: int
) -> None:
    await admin.connect()
    models = ["acme/large", "acme/small"]
    await admin.call("POST", "/api/combos", {"name": "best", "models": models}, status=201)
    key = await key_for(admin, **rules)
    async with remote(admin) as client:
        answer = await chat(client, key, "best")

    assert answer.status_code == status
    called = [received.json()["model"] for received in admin.vendor.calls("/chat/completions")]
    narrowed = "allowedModels" in rules or "modelAccess" in rules
    assert called == ([] if status == 403 else ["small" if narrowed else "large"])


@pytest.mark.parametrize(
    ("rules", "status"),
    [
        ({}, 200),
        ({"allowAutoCombos": True}, 200),
        ({"allowAutoCombos": False}, 403),
        ({"allowedCombos": ["best"]}, 200),
        ({"allowedModels": ["acme/large"]}, 200),
        (access(DENY, "acme/*"), 403),
    ],
    ids=str,
)
async def test_families_are_ruled_by_their_own_switch(
    admin: AdminGateway, rules: dict[str, Any], status: int
) -> None:
    await admin.connect()
    await admin.call("POST", "/api/models/custom", {"providerAlias": "ac", "id": "glm-5"})
    key = await key_for(admin, **rules)
    async with remote(admin) as client:
        answer = await chat(client, key, "auto/glm")
        listed = (await client.get("/v1/models", headers=bearer(key))).json()["data"]

    assert answer.status_code == status
    assert ("auto/glm" in [row["id"] for row in listed]) is (status == 200)
