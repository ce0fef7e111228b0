"""Trying out an endpoint that is not saved."""

from typing import Any

import pytest
from admin_gateway import KEY, REPLY, AdminGateway, refused
from fake_vendor import MockResponse

from gateway_dashboard_api.nodes import routes as nodes

pytestmark = pytest.mark.anyio
PATH = "/api/provider-nodes/validate"
VECTOR = b'{"data":[{"embedding":[0.1,0.2,0.3],"index":0}]}'


async def validated(admin: AdminGateway, **more: Any) -> dict[str, Any]:
    body = {"baseUrl": f"{admin.vendor.url}/v1", "apiKey": KEY, "type": "openai-compatible"}
    answer: dict[str, Any] = await admin.call("POST", PATH, {**body, **more})
    return answer


async def test_an_endpoint_with_a_list_is_good(admin: AdminGateway) -> None:
    assert await validated(admin) == {"valid": True, "error": None, "method": "models"}


async def test_an_open_list_is_enough_where_no_model_is_named(admin: AdminGateway) -> None:
    admin.vendor.open_list = True

    assert await validated(admin, apiKey="wrong-canary") == {
        "valid": True,
        "error": None,
        "method": "models",
    }


async def test_a_named_model_is_called_where_the_list_proves_nothing(admin: AdminGateway) -> None:
    admin.vendor.open_list = True

    good = await validated(admin, modelId="large")
    wrong = await validated(admin, modelId="large", apiKey="wrong-canary")

    assert (good["valid"], good["method"]) == (True, "chat")
    assert (wrong["valid"], "method" in wrong) == (False, False)


async def test_an_endpoint_without_a_list_requires_a_model(admin: AdminGateway) -> None:
    admin.vendor.written["/models"] = refused(404, "No such path")

    without = await validated(admin)
    named = await validated(admin, modelId="large")

    assert (without["valid"], without["error"]) == (False, "No such path")
    assert (named["valid"], named["method"]) == (True, "chat")


async def test_a_wrong_key_is_reported_without_being_repeated(admin: AdminGateway) -> None:
    answer = await validated(admin, apiKey="wrong-canary")

    assert answer == {"valid": False, "error": "Incorrect API key provided: Bearer ***"}


async def test_a_messages_style_endpoint_is_called_in_its_own_format(admin: AdminGateway) -> None:
    admin.vendor.written["/models"] = MockResponse((b'{"data":[{"id":"a"}]}',))

    answer = await validated(
        admin, type="claude-compatible", baseUrl=f"{admin.vendor.url}/v1/messages"
    )

    received = admin.vendor.received[0]
    assert answer["method"] == "models"
    assert (received.target, received.headers["x-api-key"]) == ("/v1/models", KEY)
    assert "anthropic-version" in received.headers


async def test_an_embedding_endpoint_reports_its_dimensions(admin: AdminGateway) -> None:
    admin.vendor.written["/embeddings"] = MockResponse((VECTOR,))

    answer = await validated(admin, type="custom-embedding", modelId="e")

    assert answer == {"valid": True, "error": None, "method": "embeddings", "dimensions": 3}
    assert admin.vendor.received[0].json() == {"model": "e", "input": "hi"}


@pytest.mark.parametrize(
    ("written", "error"),
    [
        (refused(401, f"No: Bearer {KEY}"), "No: Bearer ***"),
        (MockResponse((b"<html>",), 500), "The provider answered 500"),
        (MockResponse((b'{"error":"odd"}',), 400), "odd"),
        (MockResponse((REPLY,)), "The provider's answer holds no embedding"),
        (MockResponse((b"[]",)), "The provider's answer holds no embedding"),
    ],
)
async def test_an_embedding_endpoint_without_an_embedding_is_invalid(
    admin: AdminGateway, written: MockResponse, error: str
) -> None:
    admin.vendor.written["/embeddings"] = written

    answer = await validated(admin, type="custom-embedding", modelId="e")

    assert answer == {"valid": False, "error": error}


async def test_an_embedding_endpoint_requires_a_model(admin: AdminGateway) -> None:
    answer = await validated(admin, type="custom-embedding")

    assert (answer["valid"], admin.vendor.received) == (False, [])


@pytest.mark.parametrize(
    ("written", "valid"),
    [
        (MockResponse((b'{"answers":{}}',)), True),
        (refused(400, "Missing required field: questions"), True),
        (refused(401, "Unauthorized"), False),
        (refused(503, "Down"), False),
    ],
)
@pytest.mark.parametrize("base", ["/v1", "/v1/systemone"])
async def test_a_decision_endpoint_gets_a_question(
    admin: AdminGateway, written: MockResponse, valid: bool, base: str
) -> None:
    admin.vendor.written["/v1/systemone"] = written
    url = admin.vendor.url + base

    answer = await validated(admin, type="custom-systemone", baseUrl=url, apiKey="", modelId="j")

    assert answer["valid"] is valid
    assert [received.target for received in admin.vendor.received] == ["/v1/systemone"]


async def test_a_local_server_is_tried_without_a_key(admin: AdminGateway) -> None:
    admin.vendor.written["/api/tags"] = MockResponse((b'{"models":[{"name":"llama"}]}',))

    answer = await validated(admin, type="ollama-compatible", baseUrl=admin.vendor.url, apiKey=None)

    assert (answer["valid"], answer["method"]) == (True, "models")


async def test_an_endpoint_that_does_not_answer_times_out(
    admin: AdminGateway, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(nodes, "LIMIT", 0.05)
    admin.vendor.written["/models"] = MockResponse((b"[]",), delay=5)

    answer = await validated(admin)

    assert answer["error"] == "The provider did not answer in 0.05 s"


@pytest.mark.parametrize(
    ("body", "error"),
    [
        ({}, "Base URL and API key required"),
        ({"baseUrl": "http://127.0.0.1:1"}, "Base URL and API key required"),
        ({"apiKey": KEY}, "Base URL and API key required"),
        ({"baseUrl": "http://169.254.169.254", "apiKey": KEY}, "The provider's address"),
        ({"baseUrl": "nonsense", "apiKey": KEY}, "The provider's URL cannot be used"),
        ({"baseUrl": "http://127.0.0.1:1", "apiKey": KEY, "type": "x"}, "Invalid type"),
    ],
)
async def test_what_cannot_be_tried_is_refused(
    admin: AdminGateway, body: dict[str, Any], error: str
) -> None:
    answer = await admin.call("POST", PATH, body, status=400)

    assert answer["error"].startswith(error)


async def test_a_saved_embedding_node_is_tried_with_its_accounts_model(admin: AdminGateway) -> None:
    admin.vendor.written["/embeddings"] = MockResponse((VECTOR,))
    node = {
        "name": "E",
        "prefix": "e",
        "type": "custom-embedding",
        "baseUrl": f"{admin.vendor.url}/v1",
    }
    made = (await admin.call("POST", "/api/provider-nodes", node, status=201))["node"]
    row = await admin.connect(made["id"], defaultModel="vec")

    answer = await admin.call("POST", f"/api/providers/{row['id']}/test")

    assert answer["valid"] is True
    assert admin.vendor.received[0].json()["model"] == "vec"
    assert admin.vendor.received[0].headers["authorization"] == f"Bearer {KEY}"
