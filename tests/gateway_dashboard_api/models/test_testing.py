"""Asking models for one word."""

import asyncio
from collections.abc import Mapping
from typing import Any

import msgspec
import pytest
from admin_gateway import KEY, REPLY, AdminGateway, refused
from collaborators import replace_collaborator
from fake_vendor import MockResponse, ReceivedRequest

from gateway_core.contracts.errors import Forbidden, Unavailable
from gateway_core.contracts.provider import Call
from gateway_core.pipeline.interceptors import Interceptors
from gateway_dashboard_api.accounts.probes.minimal_call import build_minimal_call
from gateway_dashboard_api.models import testing as model_tests

pytestmark = pytest.mark.anyio
PATH = "/api/models/test"
BATCH = f"{PATH}/batch"
GREETING = {
    "model": "large",
    "messages": [{"role": "user", "content": "hi"}],
    "max_tokens": 1,
    "stream": False,
}


async def events(admin: AdminGateway, body: Any, status: int = 200) -> list[Any]:
    answer = await admin.client.post(BATCH, json=body)
    assert answer.status_code == status, answer.text
    assert answer.headers["content-type"].startswith("text/event-stream")
    frames = answer.text.split("\n\n")
    assert frames.pop() == ""
    return [msgspec.json.decode(frame.removeprefix("data: ")) for frame in frames]


async def test_a_test_calls_the_model(admin: AdminGateway) -> None:
    row = await admin.connect()

    answer = await admin.call("POST", PATH, {"model": "ac/large"})

    assert answer.pop("latencyMs") >= 0
    assert answer == {"ok": True, "error": None, "status": 200}
    assert [received.json() for received in admin.vendor.received] == [GREETING]
    await admin.core.ledger.flush()
    used = (await admin.core.stores.usage.page(limit=5)).rows[0]
    assert (used.endpoint, used.connection_id, used.input_tokens) == (PATH, row["id"], 3)


async def test_any_name_that_can_be_called_can_be_tested(admin: AdminGateway) -> None:
    await admin.connect()
    await admin.call("PUT", "/api/models/alias", {"model": "ac/large", "alias": "quick"})
    await admin.call("POST", "/api/combos", {"name": "team", "models": ["quick"]}, status=201)

    for name in ("quick", "team", "acme/large", "echo/echo"):
        assert (await admin.call("POST", PATH, {"model": name}))["ok"] is True


@pytest.mark.parametrize("wire", ["claude", "openai-responses", "ollama"])
async def test_a_vendor_of_any_format_can_be_tested(admin: AdminGateway, wire: str) -> None:
    admin.vendor.key = None
    replies = {
        "claude": b'{"id":"m","type":"message","role":"assistant","model":"x","stop_reason":'
        b'"max_tokens","content":[{"type":"text","text":"H"}],'
        b'"usage":{"input_tokens":1,"output_tokens":1}}',
        "openai-responses": b'{"id":"r","object":"response","created_at":1,"status":"completed",'
        b'"model":"x","output":[{"type":"message","id":"i","role":"assistant","status":"completed",'
        b'"content":[{"type":"output_text","text":"H","annotations":[]}]}],'
        b'"usage":{"input_tokens":1,"output_tokens":1,"total_tokens":2}}',
        "ollama": b'{"model":"x","created_at":"2026-01-01T00:00:00Z","message":{"role":"assistant",'
        b'"content":"H"},"done":true,"done_reason":"stop","prompt_eval_count":1,"eval_count":1}',
    }
    admin.vendor.script = lambda received: MockResponse((replies[wire],))
    node = {
        "name": wire,
        "prefix": "its",
        "type": f"{wire}-compatible",
        "baseUrl": admin.vendor.url,
    }
    await admin.call("POST", "/api/provider-nodes", node, status=201)

    answer = await admin.call("POST", PATH, {"model": "its/x"})

    assert (answer["ok"], answer["error"]) == (True, None)


async def test_a_test_uses_the_accounts_its_combo_allows(admin: AdminGateway) -> None:
    await admin.connect(name="first", apiKey="wrong-canary")
    second = await admin.connect(name="second")
    team = {"name": "team", "models": ["ac/large"], "allowedConnectionIds": [second["id"]]}
    await admin.call("POST", "/api/combos", team, status=201)

    answer = await admin.call("POST", PATH, {"model": "team"})

    assert (answer["ok"], len(admin.vendor.received)) == (True, 1)


async def test_an_interceptor_sees_a_test_before_it_is_resolved(admin: AdminGateway) -> None:
    class Guardrail:
        order = 1
        required = True

        async def before(self, call: Call) -> Call:
            if call.model == "forbidden":
                raise Forbidden("Not this one")
            return msgspec.structs.replace(call, model="ac/large")

        async def after(self, record: Mapping[str, Any]) -> None:
            return None

    await admin.connect()
    replace_collaborator(admin.core, "interceptors", Interceptors([("guard", Guardrail())]))

    changed = await admin.call("POST", PATH, {"model": "anything"})
    refused = await admin.call("POST", PATH, {"model": "forbidden"})

    assert changed["ok"] is True
    assert (refused["ok"], refused["error"], refused["status"]) == (False, "Not this one", 403)


async def test_a_refusal_is_reported_without_secrets(admin: AdminGateway) -> None:
    await admin.connect(apiKey="wrong-canary")

    answer = await admin.call("POST", PATH, {"model": "ac/large"})

    assert (answer["ok"], answer["status"]) == (False, 401)
    assert answer["error"] == "Incorrect API key provided: Bearer ***"


@pytest.mark.parametrize(
    ("body", "status"),
    [
        ({"model": "nobody/m"}, 404),
        ({"model": "ac/large"}, 404),
        ({"model": "unheard-of"}, 400),
        ({"model": "ac/vectors"}, 400),
        ({"model": "ac/vectors", "kind": "embedding"}, 400),
    ],
)
async def test_a_model_that_cannot_be_called_gives_an_outcome(
    admin: AdminGateway, body: dict[str, Any], status: int
) -> None:
    answer = await admin.call("POST", PATH, body)

    assert (answer["ok"], answer["status"]) == (False, status)
    assert answer["error"]


async def test_a_model_that_does_not_answer_times_out(
    admin: AdminGateway, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(model_tests, "LIMIT", 0.05)
    admin.vendor.written["/chat/completions"] = MockResponse((REPLY,), delay=5)
    await admin.connect()

    answer = await admin.call("POST", PATH, {"model": "ac/large"})

    assert (answer["ok"], answer["status"]) == (False, 504)


async def test_an_unexpected_error_gives_an_outcome(
    admin: AdminGateway, monkeypatch: pytest.MonkeyPatch
) -> None:
    async def broken(*_: object) -> None:
        raise RuntimeError(KEY)

    monkeypatch.setattr(model_tests, "call_members", broken)
    await admin.connect()

    answer = await admin.call("POST", PATH, {"model": "ac/large"})

    assert (answer["ok"], answer["error"], answer["status"]) == (False, "The test failed", 500)


async def test_a_test_is_pinned_to_an_account(admin: AdminGateway) -> None:
    await admin.connect(name="first", apiKey="wrong-canary")
    second = await admin.connect(name="second")

    answer = await admin.call("POST", PATH, {"model": "ac/large", "connectionId": second["id"]})

    assert answer["ok"] is True
    assert len(admin.vendor.received) == 1


@pytest.mark.parametrize("path", [PATH, BATCH])
async def test_a_pin_must_be_an_account_in_use(admin: AdminGateway, path: str) -> None:
    row = await admin.connect()
    await admin.call("PUT", f"/api/providers/{row['id']}", {"isActive": False})
    received = {"model": "ac/large"}
    body = {"models": [received]} if path == BATCH else received

    gone = await admin.call("POST", path, {**body, "connectionId": "x"}, status=404)
    off = await admin.call("POST", path, {**body, "connectionId": row["id"]}, status=400)

    assert gone["error"] == "Connection not found"
    assert off["error"] == "Connection is not active"


async def test_a_pin_to_another_providers_account_finds_no_account(admin: AdminGateway) -> None:
    row = await admin.connect()

    answer = await admin.call("POST", PATH, {"model": "open/large", "connectionId": row["id"]})

    assert (answer["ok"], answer["status"]) == (False, 404)


@pytest.mark.parametrize(
    ("body", "error"),
    [
        ({}, "Model required"),
        ({"model": " "}, "Model required"),
        ({"model": "a", "kind": "telepathy"}, "Invalid kind"),
        ({"model": 5}, "Invalid request body"),
    ],
)
async def test_an_invalid_test_is_refused(
    admin: AdminGateway, body: dict[str, Any], error: str
) -> None:
    answer = await admin.call("POST", PATH, body, status=400)

    assert answer["error"].startswith(error)


async def test_many_models_are_reported_one_by_one(admin: AdminGateway) -> None:
    await admin.connect()
    models = [{"model": "ac/large"}, {"model": "ac/small", "kind": "llm"}, {"model": "x/y"}]

    found = await events(admin, {"models": models})

    assert found.pop() == {"done": True}
    assert {(row["model"], row["kind"], row["ok"]) for row in found} == {
        ("ac/large", "llm", True),
        ("ac/small", "llm", True),
        ("x/y", "llm", False),
    }
    assert found[0]["model"] == "ac/large"
    assert all(row["latencyMs"] >= 0 and (row["error"] is None) is row["ok"] for row in found)


@pytest.mark.parametrize("status", [401, 403])
async def test_the_others_are_skipped_when_the_first_is_refused(
    admin: AdminGateway, status: int
) -> None:
    await admin.connect()
    admin.vendor.written["/chat/completions"] = refused(status, "Go away")

    found = await events(admin, {"models": [{"model": "ac/large"}] * 3})

    assert [row.get("error") for row in found] == [
        "Go away",
        "Skipped: provider unavailable",
        "Skipped: provider unavailable",
        None,
    ]
    assert len(admin.vendor.received) == 1


async def test_the_others_are_skipped_when_the_vendor_is_unreachable(admin: AdminGateway) -> None:
    await admin.connect()
    await admin.vendor.aclose()

    found = await events(admin, {"models": [{"model": "ac/large"}, {"model": "ac/small"}]})

    assert found[1]["error"] == "Skipped: provider unavailable"


async def test_the_others_are_skipped_when_the_first_times_out(
    admin: AdminGateway, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(model_tests, "LIMIT", 0.05)
    admin.vendor.written["/chat/completions"] = MockResponse((REPLY,), delay=5)
    await admin.connect()

    found = await events(admin, {"models": [{"model": "ac/large"}, {"model": "ac/small"}]})

    assert [row.get("status") for row in found[:1]] == [504]
    assert found[1]["error"] == "Skipped: provider unavailable"


async def test_the_others_are_tested_when_only_the_first_model_is_bad(admin: AdminGateway) -> None:
    await admin.connect()

    def one_is_bad(received: ReceivedRequest) -> MockResponse:
        bad = received.json()["model"] == "large"
        return refused(404, "No such model") if bad else MockResponse((REPLY,))

    admin.vendor.script = one_is_bad

    found = await events(admin, {"models": [{"model": "ac/large"}, {"model": "ac/small"}]})

    assert [row["ok"] for row in found[:2]] == [False, True]


async def test_ten_models_are_tested_at_a_time_and_the_first_alone(admin: AdminGateway) -> None:
    admin.vendor.key = None
    admin.vendor.written["/chat/completions"] = MockResponse((REPLY,), delay=0.02)
    models = [{"model": f"local/{number}"} for number in range(31)]

    found = await events(admin, {"models": models})

    assert len(found) == 32
    assert all(row["ok"] for row in found[:-1])
    assert 2 <= admin.core.network.counts().open <= 10
    assert admin.vendor.received[0].json()["model"] == "0"


@pytest.mark.parametrize(
    "body",
    [
        {},
        {"models": []},
        {"models": [{"model": "ac/large"}] * 201},
        {"models": [{}]},
        {"models": [{"model": "a", "kind": "telepathy"}]},
        {"models": ["ac/large"]},
    ],
)
async def test_an_invalid_batch_is_refused_before_it_begins(
    admin: AdminGateway, body: dict[str, Any]
) -> None:
    await admin.call("POST", BATCH, body, status=400)


async def test_a_client_that_leaves_takes_its_batch_along(admin: AdminGateway) -> None:
    """Straight ASGI, for a client that hangs up in the middle."""
    admin.vendor.key = None
    admin.vendor.written["/chat/completions"] = MockResponse((REPLY,), delay=0.05)
    body = msgspec.json.encode({"models": [{"model": f"local/{n}"} for n in range(100)]})
    begun = asyncio.Event()
    received = iter([{"type": "http.request", "body": body}])

    async def receive() -> dict[str, Any]:
        for message in received:
            return message
        await begun.wait()
        return {"type": "http.disconnect"}

    async def send(message: Any) -> None:
        if message.get("body"):
            begun.set()

    scope = {
        "type": "http",
        "asgi": {"version": "3.0", "spec_version": "2.3"},
        "method": "POST",
        "path": BATCH,
        "raw_path": BATCH.encode(),
        "query_string": b"",
        "root_path": "",
        "scheme": "http",
        "http_version": "1.1",
        "client": ("127.0.0.1", 1),
        "server": ("127.0.0.1", 1),
        "headers": [(b"host", b"127.0.0.1"), (b"content-type", b"application/json")],
    }

    async with asyncio.timeout(5):
        await admin.gateway.app(scope, receive, send)

    assert len(admin.vendor.received) < 30
    names = [getattr(task.get_coro(), "__qualname__", "") for task in asyncio.all_tasks()]
    assert not any(name.startswith("_side_by_side") for name in names)


def test_a_test_call_needs_a_format_that_can_read_it() -> None:
    with pytest.raises(Unavailable):
        build_minimal_call({}, "m")
