"""Debugging translation."""

import asyncio
import logging
from pathlib import Path
from typing import Any

import msgspec
import pytest
from admin_gateway import KEY, AdminGateway, opened, refused
from caller_kinds import with_key

from gateway_dashboard_api.admin_context import AdminContext
from gateway_dashboard_api.log.console import Console, console_of
from gateway_dashboard_api.translator.logs import events

pytestmark = pytest.mark.anyio
PATH = "/api/translator"
LOGS = f"{PATH}/console-logs"
BODY = {"model": "large", "messages": [{"role": "user", "content": "Hello"}]}
ASKED = {"provider": "acme", "body": BODY}
LOG = logging.getLogger("gateway_core.test")


@pytest.fixture
def variables() -> dict[str, str]:
    return {"ENABLE_TRANSLATOR": "true"}


async def test_the_formats_are_shown(admin: AdminGateway) -> None:
    reported = await admin.call("POST", f"{PATH}/translate", {"step": 1, **ASKED})

    assert reported == {
        "success": True,
        "result": {
            "provider": "acme",
            "model": "large",
            "sourceFormat": "openai",
            "targetFormat": "openai",
        },
    }


async def test_a_body_is_shown_as_the_vendor_would_get_it(admin: AdminGateway) -> None:
    messages = {
        "model": "acme/large",
        "max_tokens": 5,
        "system": "Be brief",
        "messages": [{"role": "user", "content": "Hello"}],
    }
    received = {"step": 2, "sourceFormat": "claude", "body": messages}

    reported = await admin.call("POST", f"{PATH}/translate", received)

    body = reported["result"]["body"]
    assert body["model"] == "large"
    assert [each["role"] for each in body["messages"]] == ["system", "user"]
    assert admin.vendor.calls() == []


async def test_a_whole_request_is_shown_without_its_secret(admin: AdminGateway) -> None:
    await admin.connect()

    reported = (await admin.call("POST", f"{PATH}/translate", {"step": 3, **ASKED}))["result"]

    assert reported["url"] == f"{admin.vendor.url}/v1/chat/completions"
    assert reported["headers"]["authorization"] == "Bearer ***"
    assert reported["body"]["messages"] == BODY["messages"]


@pytest.mark.parametrize(
    ("change", "error"),
    [
        ({"step": 4}, "Invalid request body"),
        ({"body": []}, "Invalid request body"),
        ({"body": {"messages": []}}, "Model required"),
        ({"sourceFormat": "morse"}, "There is no client format morse"),
        ({"model": "vectors"}, "Provider acme does not serve chat requests with this model"),
        ({"provider": "chatless", "model": "m"}, "Provider chatless does not serve chat requests"),
    ],
)
async def test_an_untranslatable_request_is_refused(
    admin: AdminGateway, change: dict[str, Any], error: str
) -> None:
    _add_deaf_provider(admin)

    answer = await admin.call(
        "POST", f"{PATH}/translate", {"step": 1, **ASKED, **change}, status=400
    )

    assert answer["success"] is False
    assert answer["error"].startswith(error)


def _add_deaf_provider(admin: AdminGateway) -> None:
    """A provider that has no chat models at all."""
    snapshot = admin.core.snapshot
    registry = snapshot.registry
    acme = registry.providers["acme"]
    chatless = msgspec.structs.replace(
        acme, id="chatless", alias=None, models=acme.models[2:], passthrough_models=False
    )
    wider = msgspec.structs.replace(
        registry,
        providers={**registry.providers, "chatless": chatless},
        names={**registry.names, "chatless": "chatless"},
    )
    models = {**snapshot.models, "chatless": chatless.models}
    admin.core.state.snapshot = msgspec.structs.replace(snapshot, registry=wider, models=models)


async def test_a_request_is_sent_and_the_answer_comes_as_it_is(admin: AdminGateway) -> None:
    await admin.connect()

    answer = await admin.client.post(f"{PATH}/send", json=ASKED)

    assert answer.status_code == 200
    assert answer.headers["content-type"] == "application/json"
    assert answer.json()["choices"][0]["message"]["content"] == "Hi"
    assert admin.vendor.calls()[-1].headers["authorization"] == f"Bearer {KEY}"


async def test_a_vendors_refusal_is_shown_without_the_key(admin: AdminGateway) -> None:
    await admin.connect()
    admin.vendor.written = {"/chat/completions": refused(401, f"Bad key {KEY}")}

    answer = await admin.client.post(f"{PATH}/send", json=ASKED)

    assert answer.status_code == 401
    assert answer.json()["error"]["message"] == "Bad key ***"


async def test_nothing_is_sent_without_an_account(admin: AdminGateway) -> None:
    answer = await admin.call("POST", f"{PATH}/send", ASKED, status=404)

    assert answer["success"] is False
    assert admin.vendor.calls() == []


async def test_the_log_is_shown_without_secrets_until_it_is_cleared(admin: AdminGateway) -> None:
    await admin.connect()
    LOG.warning("the vendor said %s", KEY)
    await asyncio.sleep(0)

    shown = await admin.call("GET", LOGS)
    cleared = await admin.call("DELETE", LOGS)
    after = await admin.call("GET", LOGS)

    assert "WARNING gateway_core.test: the vendor said ***" in shown["logs"]
    assert cleared == after == {"success": True, "logs": []}


async def test_the_log_can_be_followed(admin: AdminGateway) -> None:
    console = console_of(admin.core)
    assert console is not None
    LOG.warning("before")
    await asyncio.sleep(0)
    following = events(AdminContext(admin.core), console)

    begun = await anext(following)
    LOG.warning("after")
    line = await anext(following)
    console.clear()
    cleared = await anext(following)
    await following.aclose()

    assert msgspec.json.decode(begun[6:])["logs"][-1] == "WARNING gateway_core.test: before"
    assert msgspec.json.decode(line[6:]) == {
        "type": "line",
        "line": "WARNING gateway_core.test: after",
    }
    assert cleared == b'data: {"type":"clear"}\n\n'


async def test_texts_are_kept_under_fixed_names(admin: AdminGateway, tmp_path: Path) -> None:
    body = {"file": "1_req_client.json", "content": '{"a": 1}'}
    missing = await admin.call("GET", f"{PATH}/load?file=1_req_client.json", status=404)
    saved = await admin.call("POST", f"{PATH}/save", body)
    loaded = await admin.call("GET", f"{PATH}/load?file=1_req_client.json")

    assert missing["success"] is False
    assert saved == {"success": True}
    assert loaded == {"success": True, "content": '{"a": 1}'}
    kept = tmp_path / "translator" / "1_req_client.json"
    assert kept.stat().st_mode & 0o777 == 0o600
    assert kept.parent.stat().st_mode & 0o777 == 0o700


@pytest.mark.parametrize("name", ["../master-key", "/etc/passwd", "", "1_req_client.json/.."])
async def test_other_names_are_refused(admin: AdminGateway, name: str) -> None:
    loaded = await admin.client.get(f"{PATH}/load", params={"file": name})
    saved = await admin.client.post(f"{PATH}/save", json={"file": name, "content": "x"})

    assert (loaded.status_code, saved.status_code) == (400, 400)


ROUTES = [
    ("POST", f"{PATH}/translate"),
    ("POST", f"{PATH}/send"),
    ("GET", LOGS),
    ("DELETE", LOGS),
    ("GET", f"{LOGS}/stream"),
    ("GET", f"{PATH}/load"),
    ("POST", f"{PATH}/save"),
]


@pytest.mark.parametrize("variables", [{}, {"ENABLE_TRANSLATOR": "no"}])
async def test_it_is_not_there_unless_it_is_switched_on(admin: AdminGateway) -> None:
    for method, path in ROUTES:
        answer = await admin.call(method, path, {} if method == "POST" else None, status=404)
        assert answer["error"] == "Not found"


async def test_a_key_cannot_debug(admin: AdminGateway) -> None:
    async with with_key(admin) as key:
        for method, path in ROUTES:
            await key.call(method, path, {} if method == "POST" else None, status=403)


async def test_the_log_is_left_alone_afterwards(tmp_path: Path, variables: dict[str, str]) -> None:
    handlers = logging.getLogger().handlers

    async with opened(tmp_path, variables):
        during = [each for each in handlers if isinstance(each, Console)]

    assert len(during) == 1
    assert not any(isinstance(each, Console) for each in handlers)
