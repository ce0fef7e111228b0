"""The ledger as clients meet it: one row for each request, safe before its client sees the end.

Accounting rules: sections 6 and 8 of the interface.
"""

import json
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import httpx2
import pytest
from fake_vendor import MockResponse, ReceivedRequest
from own_stores import own_stores
from served_gateway import Served, serve_gateway
from surviving_rows import surviving_rows
from vendor_answers import INPUT_TOKENS, OUTPUT_TOKENS, STREAMED, WHOLE

from gateway_administration.stores.keys import KeyChange

VENDORS = ("openai", "openai-responses", "claude", "gemini", "ollama")
ASKED = {"role": "user", "content": "hi"}
CLIENTS: dict[str, tuple[str, dict[str, Any], bytes]] = {
    "openai": ("/v1/chat/completions", {"messages": [ASKED]}, b"[DONE]"),
    "openai-completions": ("/v1/completions", {"prompt": "hi"}, b"[DONE]"),
    "openai-responses": ("/v1/responses", {"input": "hi"}, b"response.completed"),
    "claude": ("/v1/messages", {"max_tokens": 9, "messages": [ASKED]}, b"message_stop"),
    "gemini": (
        "/v1beta/models/{model}:streamGenerateContent",
        {"contents": [{"role": "user", "parts": [{"text": "hi"}]}]},
        b'"finishReason"',
    ),
    "ollama": ("/v1/api/chat", {"messages": [ASKED]}, b'"done":true'),
}
"""The path, the body without its model, and text in the last frame of a stream."""
POLICIES: dict[str, dict[str, int]] = {
    "unlimited": {},
    "limited": {"monthlyTokenLimit": 10**6},
}


def answer(wire: str) -> Any:
    media = "application/x-ndjson" if wire == "ollama" else "text/event-stream"

    def written(received: ReceivedRequest) -> MockResponse:
        if b'"stream":true' not in received.body and ":stream" not in received.target:
            return MockResponse((WHOLE[wire],))
        return MockResponse.stream(STREAMED[wire][:-9], STREAMED[wire][-9:], content_type=media)

    return written


@pytest.fixture(scope="module")
def here(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Served]:
    data_dir: Path = tmp_path_factory.mktemp("data")
    with serve_gateway(data_dir, {wire: answer(wire) for wire in VENDORS}) as running:
        yield running


def new_key(here: Served, name: str, **policy: Any) -> tuple[str, str]:
    """A key's id and text."""

    async def make() -> tuple[str, str]:
        core = here.gateway.core
        mint = core.identity.keys.mint
        text = mint.new()
        change = KeyChange(name=name, policy=policy)
        row = await own_stores(core).keys.create(
            text, mint.digest(text).hex(), mint.machine_id, change
        )
        await core.refresh()
        return row.id, text

    return here.do(make())


def stored(here: Served, key_id: str) -> list[tuple[Any, ...]]:
    """What would be left of a key's usage after a kill: status and tokens."""
    return [row[1:] for row in surviving_rows(here, key_id)]


def request_of(client: str, vendor: str, *, stream: bool) -> tuple[str, dict[str, Any]]:
    path, body, _ = CLIENTS[client]
    model = f"v-{vendor}/m"
    if client == "gemini":
        verb = "streamGenerateContent" if stream else "generateContent"
        return f"/v1beta/models/{model}:{verb}", body
    return path, {"model": model, "stream": stream, **body}


@pytest.mark.parametrize("policy", POLICIES.values(), ids=POLICIES)
@pytest.mark.parametrize("vendor", VENDORS)
@pytest.mark.parametrize("client", CLIENTS)
def test_a_row_survives_a_kill_before_the_end_is_sent(
    here: Served,
    http: httpx2.Client,
    taken: list[bool],
    client: str,
    vendor: str,
    policy: dict[str, int],
) -> None:
    key_id, text = new_key(here, "any", **policy)
    path, body = request_of(client, vendor, stream=True)

    for number in (1, 2):
        seen, rows = b"", None
        with http.stream(
            "POST", here.url + path, json=body, headers={"authorization": f"Bearer {text}"}
        ) as stream:
            for piece in stream.iter_bytes():
                seen += piece
                if rows is None and CLIENTS[client][2] in seen.replace(b'": ', b'":'):
                    rows = stored(here, key_id)

        assert rows is not None, seen
        assert rows == [("ok", INPUT_TOKENS, OUTPUT_TOKENS)] * number
        assert stored(here, key_id) == rows

    assert taken[-1]


@pytest.mark.parametrize("policy", POLICIES.values(), ids=POLICIES)
@pytest.mark.parametrize("client", CLIENTS)
def test_the_row_of_a_whole_answer_survives_a_kill_before_it_is_sent(
    here: Served, http: httpx2.Client, taken: list[bool], client: str, policy: dict[str, int]
) -> None:
    key_id, text = new_key(here, "any", **policy)
    path, body = request_of(client, "openai", stream=False)

    for number in (1, 2, 3):
        response = http.post(
            here.url + path, json=body, headers={"authorization": f"Bearer {text}"}
        )
        rows = stored(here, key_id)

        assert response.status_code == 200, response.text
        assert rows == [("ok", INPUT_TOKENS, OUTPUT_TOKENS)] * number

    assert taken[-2:] == [True, True]


@pytest.mark.parametrize("stream", [False, True])
def test_the_row_of_a_refusal_survives_a_kill_before_it_is_sent(
    here: Served, http: httpx2.Client, stream: bool
) -> None:
    key_id, text = new_key(here, "any")
    body = {"model": "v-nobody/m", "stream": stream, "messages": [ASKED]}

    response = http.post(
        f"{here.url}/v1/chat/completions", json=body, headers={"authorization": f"Bearer {text}"}
    )

    assert response.status_code == 404
    assert stored(here, key_id) == [("error", 0, 0)]


def test_an_exhausted_limit_refuses_the_next_call(here: Served, http: httpx2.Client) -> None:
    _, text = new_key(here, "small", dailyOutputTokenLimit=2 * OUTPUT_TOKENS)
    path, body = request_of("claude", "claude", stream=True)
    headers = {"authorization": f"Bearer {text}"}

    responses = [http.post(here.url + path, json=body, headers=headers) for _ in range(3)]

    assert [each.status_code for each in responses] == [200, 200, 429]
    refused = responses[2].json()
    assert refused["type"] == "error"
    assert refused["error"]["type"] == "rate_limit_error"
    assert refused["error"]["message"] == (
        "API key daily output tokens limit reached (2/2). Resets at local midnight."
    )
    assert 0 < int(responses[2].headers["retry-after"]) <= 25 * 3600


def test_every_request_has_one_row_however_it_ends(here: Served, http: httpx2.Client) -> None:
    key_id, text = new_key(here, "busy", monthlyRequestLimit=10**6)
    headers = {"authorization": f"Bearer {text}"}

    def call(number: int) -> str:
        client, vendor = list(CLIENTS)[number % 6], VENDORS[number % 5]
        path, body = request_of(client, vendor, stream=number % 2 == 0)
        if number % 7 == 0:
            body, path = {**body, "model": "v-openai"}, path.replace(vendor, "nobody")
        response = http.post(here.url + path, json=body, headers=headers)
        return str(response.headers["x-request-id"])

    with ThreadPoolExecutor(8) as pool:
        ids = list(pool.map(call, range(120)))

    rows = [row for row in here.rows() if row.api_key_id == key_id]
    assert sorted(row.request_id for row in rows) == sorted(ids)
    assert all(min(row.input_tokens, row.output_tokens, row.cached_tokens) >= 0 for row in rows)
    count = here.do(here.gateway.core.limits.count_of(key_id))
    reached = [row for row in rows if row.attempts]
    assert count.spent.ever.requests == len(reached)
    assert count.spent.today.tokens == sum(row.input_tokens + row.output_tokens for row in rows)


def test_cached_tokens_and_several_choices_are_counted_once(
    tmp_path: Path, http: httpx2.Client
) -> None:
    written = json.loads(WHOLE["openai"])
    written["choices"] = [{**written["choices"][0], "index": index} for index in range(3)]
    written["usage"] = {
        "prompt_tokens": 100,
        "completion_tokens": 30,
        "total_tokens": 130,
        "prompt_tokens_details": {"cached_tokens": 80},
    }
    body = {"model": "v-openai/m", "n": 3, "messages": [ASKED]}
    with serve_gateway(
        tmp_path, {"openai": lambda received: MockResponse((json.dumps(written).encode(),))}
    ) as running:
        answered = http.post(f"{running.url}/v1/chat/completions", json=body)
        rows = running.rows()

    assert len(answered.json()["choices"]) == 3
    assert [(r.input_tokens, r.output_tokens, r.cached_tokens) for r in rows] == [(100, 30, 80)]


TEMPLATES = {
    **{client: path for client, (path, _, _) in CLIENTS.items()},
    "gemini": "/v1beta/models/{model}:generateContent",
}


@pytest.mark.parametrize("client", CLIENTS)
def test_a_row_has_the_path_of_its_route_and_no_models_name(
    here: Served, http: httpx2.Client, client: str
) -> None:
    key_id, text = new_key(here, "templates")
    path, body = request_of(client, "openai", stream=False)

    for _ in range(3):
        http.post(here.url + path, json=body, headers={"authorization": f"Bearer {text}"})

    rows = [row for row in here.rows() if row.api_key_id == key_id]
    assert [row.endpoint for row in rows] == [TEMPLATES[client]] * 3


def test_a_refusal_is_booked_with_its_text_on_the_model_it_was_for(
    tmp_path: Path, http: httpx2.Client
) -> None:
    message = "Rate limit reached for key sk-abcdefghijklmnop"
    refusal = json.dumps({"error": {"message": message, "type": "requests", "code": "limit"}})
    written = MockResponse((refusal.encode(),), 429, headers={"retry-after": "60"})
    body = {"model": "v-openai/m", "messages": [ASKED]}
    with serve_gateway(tmp_path, {"openai": lambda received: written}) as running:
        for _ in range(2):
            http.post(f"{running.url}/v1/chat/completions", json=body)
        rows = running.rows()

    assert [(row.attempts, row.status, row.http_status) for row in rows] == [
        (0, "error", 429),
        (1, "error", 429),
    ]
    assert [(row.provider, row.model_sent) for row in rows] == [("v-openai", "m")] * 2
    assert rows[1].error == "Rate limit reached for key sk-***"
    assert "Rate limit reached for key sk-*** (reset after " in (rows[0].error or "")


def test_a_stream_that_breaks_off_is_booked_with_its_text(
    tmp_path: Path, http: httpx2.Client
) -> None:
    events = STREAMED["openai"].split(b"\n\n")
    written = MockResponse.stream(b"\n\n".join((*events[:2], b"")), cut=True)
    body = {"model": "v-openai/m", "stream": True, "messages": [ASKED]}
    with serve_gateway(tmp_path, {"openai": lambda received: written}) as running:
        http.post(f"{running.url}/v1/chat/completions", json=body)
        rows = running.rows()

    assert [row.status for row in rows] == ["upstream_cut"]
    assert rows[0].error
