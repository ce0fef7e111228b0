"""The rules of the chat endpoints, over a socket: bodies, errors, ids, early streams (4.2, 7)."""

import json
import re
import socket
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import httpx2
import pytest
from fake_vendor import Asked, Said
from served import Served, served

from gateway_core import Model, ProviderSpec
from gateway_core.contracts.kinds import Kind

UUID = re.compile(r"[0-9a-f]{8}-[0-9a-f]{4}-4[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}")
GPT = json.dumps(
    {
        "id": "chatcmpl-9",
        "object": "chat.completion",
        "created": 1,
        "model": "m",
        "choices": [
            {
                "index": 0,
                "message": {"role": "assistant", "content": "fine"},
                "finish_reason": "stop",
            }
        ],
        "usage": {"prompt_tokens": 3, "completion_tokens": 1, "total_tokens": 4},
    }
).encode()
CLAUDE = json.dumps(
    {
        "id": "msg_9",
        "type": "message",
        "role": "assistant",
        "model": "m",
        "content": [{"type": "text", "text": "fine"}],
        "stop_reason": "end_turn",
        "stop_sequence": None,
        "usage": {"input_tokens": 3, "output_tokens": 1},
    }
).encode()
PATHS = {
    "openai": "/v1/chat/completions",
    "openai-completions": "/v1/completions",
    "openai-responses": "/v1/responses",
    "claude": "/v1/messages",
    "gemini": "/v1beta/models/v-openai/m:generateContent",
    "ollama": "/v1/api/chat",
}
BODIES: dict[str, dict[str, Any]] = {
    "openai": {"model": "v-openai/m", "messages": [{"role": "user", "content": "hi"}]},
    "openai-completions": {"model": "v-openai/m", "prompt": "hi"},
    "openai-responses": {"model": "v-openai/m", "input": "hi"},
    "claude": {
        "model": "v-openai/m",
        "max_tokens": 9,
        "messages": [{"role": "user", "content": "hi"}],
    },
    "gemini": {"contents": [{"role": "user", "parts": [{"text": "hi"}]}]},
    "ollama": {
        "model": "v-openai/m",
        "stream": False,
        "messages": [{"role": "user", "content": "hi"}],
    },
}


class Vendor:
    """Says what the test at hand wants said."""

    def __init__(self, usual: bytes) -> None:
        self.usual = usual
        self.say: Callable[[Asked], Said] | None = None

    def __call__(self, asked: Asked) -> Said:
        return self.say(asked) if self.say else Said((self.usual,))


GPT_VENDOR, CLAUDE_VENDOR = Vendor(GPT), Vendor(CLAUDE)


@pytest.fixture(scope="module")
def running(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Served]:
    folder = Path(tmp_path_factory.mktemp("gateway"))
    scripts = {"openai": GPT_VENDOR, "claude": CLAUDE_VENDOR}
    with served(folder, scripts, variables={"SSE_KEEPALIVE_MS": "300"}) as here:
        yield here


@pytest.fixture
def here(running: Served) -> Served:
    GPT_VENDOR.say = CLAUDE_VENDOR.say = None
    running.gateway.core.health.clear(["v-openai:public", "v-claude:public"], "__all")
    return running


def post(http: httpx2.Client, here: Served, wire: str, **more: Any) -> httpx2.Response:
    body = {**BODIES[wire], **more}
    return http.post(here.url + PATHS[wire], json=body)


@pytest.mark.parametrize("wire", PATHS)
def test_every_format_gets_an_answer(here: Served, http: httpx2.Client, wire: str) -> None:
    answer = post(http, here, wire)

    assert answer.status_code == 200
    assert "fine" in answer.text
    assert UUID.fullmatch(answer.headers["x-request-id"])


@pytest.mark.parametrize("prefix", ["", "/api", "/v1", "/v1/v1", "/api/v1"])
def test_prefixes_that_mean_the_same(here: Served, http: httpx2.Client, prefix: str) -> None:
    answer = http.post(f"{here.url}{prefix}/v1/chat/completions", json=BODIES["openai"])

    assert answer.status_code == 200


@pytest.mark.parametrize("prefix", ["/v1beta", "/api/v1beta", "/v1"])
@pytest.mark.parametrize("name", ["v-openai/m", "models/v-openai/m"])
def test_generative_paths(here: Served, http: httpx2.Client, prefix: str, name: str) -> None:
    path = f"{prefix}/models/{name}:generateContent"
    answer = http.post(here.url + path, json=BODIES["gemini"])

    assert answer.status_code == 200


def test_the_suffix_alone_decides_streaming(here: Served, http: httpx2.Client) -> None:
    GPT_VENDOR.say = lambda asked: (
        Said.stream(*gpt_stream("a", "b")) if asked.json().get("stream") else Said((GPT,))
    )
    path = f"{here.url}/v1beta/models/v-openai/m"

    whole = http.post(f"{path}:generateContent", json={**BODIES["gemini"], "stream": True})
    streamed = http.post(f"{path}:streamGenerateContent", json=BODIES["gemini"])

    assert whole.headers["content-type"] == "application/json"
    assert streamed.headers["content-type"].startswith("text/event-stream")


@pytest.mark.parametrize("wire", ["openai", "claude"])
@pytest.mark.parametrize("kind", ["text/plain", "", "multipart/form-data; boundary=x"])
def test_a_body_that_is_not_json_by_its_type_is_refused_unread(
    here: Served, http: httpx2.Client, wire: str, kind: str
) -> None:
    headers = {"content-type": kind} if kind else {}
    answer = http.post(here.url + PATHS[wire], content=b"{}", headers=headers)

    assert answer.status_code == 415


@pytest.mark.parametrize("wire", PATHS)
@pytest.mark.parametrize(
    "body",
    [b"", b"nope", b"[]", b'{"model": 5}', b'{"a":' * 100_000, b'"text"', b"\xff\xfe{}"],
    ids=["empty", "nope", "list", "number", "deep", "string", "not-utf8"],
)
def test_a_bad_body_is_a_400_in_the_clients_own_shape(
    here: Served, http: httpx2.Client, wire: str, body: bytes
) -> None:
    answer = http.post(
        here.url + PATHS[wire], content=body, headers={"content-type": "application/json"}
    )

    assert answer.status_code == 400
    error_of(wire, answer)


def error_of(wire: str, answer: httpx2.Response) -> str:
    """The error's text, found where the format keeps it; checks the request's id on the way."""
    told = answer.json()
    request_id = answer.headers["x-request-id"]
    assert UUID.fullmatch(request_id)
    if wire == "ollama":
        assert told["request_id"] == request_id
        return str(told["error"])
    if wire == "claude":
        assert told["type"] == "error"
        assert told["request_id"] == request_id
    else:
        assert told["error"]["request_id"] == request_id
    if wire == "gemini":
        assert told["error"]["code"] == answer.status_code
    return str(told["error"]["message"])


@pytest.mark.parametrize("wire", PATHS)
def test_the_vendors_request_id_is_passed_on_beside_our_own(
    here: Served, http: httpx2.Client, wire: str
) -> None:
    GPT_VENDOR.say = lambda _: Said(
        (b'{"error":{"message":"no such thing","type":"invalid_request_error","code":"x"}}',),
        status=400,
        headers={"x-request-id": "req_vendor-1"},
    )

    answer = http.post(
        here.url + PATHS[wire], json=BODIES[wire], headers={"x-request-id": "from-the-client"}
    )

    assert answer.status_code == 400
    assert "no such thing" in error_of(wire, answer)
    told = answer.json()
    flat = wire in ("claude", "ollama")
    assert (told if flat else told["error"])["upstream_request_id"] == "req_vendor-1"


@pytest.mark.parametrize("wire", PATHS)
def test_a_model_nobody_named_is_asked_for(here: Served, http: httpx2.Client, wire: str) -> None:
    if wire in ("gemini", "ollama"):  # the path names it; the local model server has a default
        return
    body = {name: value for name, value in BODIES[wire].items() if name != "model"}
    answer = http.post(here.url + PATHS[wire], json=body)

    assert answer.status_code == 400
    assert "Missing model" in error_of(wire, answer)


def test_a_body_over_the_limit_is_refused_before_it_is_read(here: Served) -> None:
    port = int(here.url.rpartition(":")[2])
    with socket.create_connection(("127.0.0.1", port), timeout=5) as client:
        client.sendall(
            b"POST /v1/chat/completions HTTP/1.1\r\nhost: 127.0.0.1\r\n"
            b"content-type: application/json\r\ncontent-length: 10737418240\r\n\r\n{"
        )
        answer = client.recv(4096)

    assert b" 413 " in answer.split(b"\r\n")[0]


def test_a_compressed_body_is_read(here: Served, http: httpx2.Client) -> None:
    import gzip

    body = gzip.compress(json.dumps(BODIES["openai"]).encode())
    headers = {"content-type": "application/json", "content-encoding": "gzip"}
    answer = http.post(here.url + PATHS["openai"], content=body, headers=headers)

    assert answer.status_code == 200


def test_a_bomb_is_not_inflated(here: Served, http: httpx2.Client) -> None:
    import gzip

    body = gzip.compress(b" " * 20_000_000)
    headers = {"content-type": "application/json", "content-encoding": "gzip"}
    answer = http.post(here.url + PATHS["openai"], content=body, headers=headers)

    assert answer.status_code == 413


def test_a_model_that_is_for_other_work_is_refused_on_chat_endpoints(
    tmp_path: Path, http: httpx2.Client
) -> None:
    def specs(vendors: Any) -> list[ProviderSpec]:
        url = vendors["openai"].url
        return [
            ProviderSpec(
                id="speaker",
                name="Speaker",
                base_url=url,
                models=(Model("voice-1", kind=Kind.SPEECH),),
            )
        ]

    with served(tmp_path, {"openai": GPT_VENDOR}, specs=specs) as other:
        body = {**BODIES["openai"], "model": "speaker/voice-1"}
        answer = http.post(other.url + PATHS["openai"], json=body)

        assert answer.status_code == 400
        assert "not a chat model and cannot be used on chat endpoints" in answer.text
        assert not other.vendors["openai"].asked


@pytest.mark.parametrize("path", ["/v1/nothing", "/v1/chat", "/v1/v1/nope", "/api/v1/nope"])
@pytest.mark.parametrize("method", ["GET", "POST", "DELETE", "PATCH"])
def test_an_unknown_route(here: Served, http: httpx2.Client, path: str, method: str) -> None:
    answer = http.request(method, here.url + path)

    assert answer.status_code == 404
    error = answer.json()["error"]
    assert (error["type"], error["code"]) == ("not_found", "unknown_route")
    assert error["path"].startswith("/v1")


@pytest.mark.parametrize("wire", PATHS)
def test_probes(here: Served, http: httpx2.Client, wire: str) -> None:
    url = here.url + PATHS[wire]

    assert http.options(url).status_code == 204
    head = http.head(url)
    assert (head.status_code, head.content) == (200, b"")
    assert http.get(url).status_code == 405


def gpt_stream(*words: str) -> list[bytes]:
    def frame(delta: dict[str, Any], finish: str | None = None) -> bytes:
        choice = {"index": 0, "delta": delta, "finish_reason": finish}
        chunk = {
            "id": "chatcmpl-9",
            "object": "chat.completion.chunk",
            "created": 1,
            "model": "m",
            "choices": [choice],
        }
        return b"data: " + json.dumps(chunk).encode() + b"\n\n"

    frames = [frame({"role": "assistant", "content": ""})]
    frames += [frame({"content": word}) for word in words]
    return [*frames, frame({}, "stop"), b"data: [DONE]\n\n"]


@pytest.mark.parametrize(
    ("wire", "first", "beat"),
    [("openai-responses", b": keepalive\n\n", 2.5), ("claude", b"event: ping\n", 0.3)],
)
def test_a_slow_stream_opens_early(
    here: Served, http: httpx2.Client, wire: str, first: bytes, beat: float
) -> None:
    GPT_VENDOR.say = lambda _: Said.stream(*gpt_stream("late"), delay=2.6)
    began = time.monotonic()

    with http.stream("POST", here.url + PATHS[wire], json={**BODIES[wire], "stream": True}) as told:
        pieces = told.iter_raw()
        beginning = next(pieces)
        opened = time.monotonic() - began
        rest = b"".join(pieces)

    assert told.status_code == 200
    assert told.headers["content-type"] == "text/event-stream; charset=utf-8"
    assert beginning.startswith(first)
    assert 1.8 < opened < 2.8
    assert b"late" in rest
    assert rest.count(first) >= (1 if beat < 1 else 0)


@pytest.mark.parametrize("wire", ["openai-responses", "claude"])
def test_an_early_failure_keeps_its_status(here: Served, http: httpx2.Client, wire: str) -> None:
    GPT_VENDOR.say = lambda _: Said((b'{"error":{"message":"wrong"}}',), status=422)

    answer = post(http, here, wire, stream=True)

    assert answer.status_code == 422
    assert answer.headers["content-type"] == "application/json"


@pytest.mark.parametrize("wire", ["openai-responses", "claude"])
def test_a_late_failure_is_an_error_event(here: Served, http: httpx2.Client, wire: str) -> None:
    GPT_VENDOR.say = lambda _: Said((b'{"error":{"message":"wrong"}}',), status=422, delay=2.2)

    answer = post(http, here, wire, stream=True)

    assert answer.status_code == 200
    last = answer.text.rstrip().rpartition("\n\n")[2]
    assert last.startswith("event: error\ndata: ")
    assert "wrong" in last
    assert here.rows()[0].http_status == 422


def test_a_quiet_messages_stream_is_kept_alive(here: Served, http: httpx2.Client) -> None:
    GPT_VENDOR.say = lambda _: Said.stream(*gpt_stream("a", "b"), pause=0.5)

    answer = post(http, here, "claude", stream=True)

    assert answer.text.count("event: ping") >= 2
    assert answer.text.rstrip().endswith('"type":"message_stop"}')


def test_an_answer_is_passed_on_byte_for_byte(here: Served, http: httpx2.Client) -> None:
    odd = GPT.replace(b'"created": 1', b'"created": 1,  "odd": [1.0, 1e2, 12345678901234567890123]')
    GPT_VENDOR.say = lambda _: Said((odd,))

    answer = post(http, here, "openai", big=12345678901234567890123, exact=1.0)

    assert answer.content == odd
    sent = here.vendors["openai"].asked[-1].body
    assert b'"exact":1.0' in sent
    assert b'"model":"m"' in sent


def test_a_stream_is_passed_on_byte_for_byte(here: Served, http: httpx2.Client) -> None:
    frames = gpt_stream("one", "two")
    GPT_VENDOR.say = lambda _: Said.stream(*frames)

    answer = post(http, here, "openai", stream=True)

    assert answer.content == b"".join(frames)


def test_what_the_target_cannot_express_is_named(here: Served, http: httpx2.Client) -> None:
    body = {
        "model": "v-claude/m",
        "messages": [{"role": "user", "content": "hi"}],
        "seed": 7,
        "logit_bias": {"1": 2},
    }
    answer = http.post(here.url + PATHS["openai"], json=body)

    assert answer.status_code == 200
    dropped = answer.headers["x-gateway-dropped"].split(", ")
    assert {"seed", "logit_bias"} <= set(dropped)
    assert set(dropped) <= set(here.rows()[0].dropped)


def test_credentials_and_cookies_of_the_client_go_nowhere(
    here: Served, http: httpx2.Client
) -> None:
    secret = {
        "authorization": "Bearer client-secret",
        "cookie": "client-secret=1",
        "x-api-key": "client-secret",
        "x-forwarded-user": "client-secret",
        "openai-organization": "client-secret",
    }
    http.post(here.url + PATHS["openai"], json=BODIES["openai"], headers=secret)

    asked = here.vendors["openai"].asked[-1]
    assert "client-secret" not in str(asked.headers)


@pytest.mark.parametrize("wire", ["openai", "claude", "gemini", "openai-responses"])
@pytest.mark.parametrize("member", ["base_url", "api_base", "baseUrl", "user_config", "extra_body"])
def test_the_request_never_chooses_where_it_goes(
    here: Served, http: httpx2.Client, wire: str, member: str
) -> None:
    before = len(here.vendors["claude"].asked)
    elsewhere = here.vendors["claude"].url
    value: Any = {"api_base": elsewhere} if member in ("user_config", "extra_body") else elsewhere

    http.post(here.url + PATHS[wire], json={**BODIES[wire], member: value})

    assert len(here.vendors["claude"].asked) == before


def test_the_admission_probe(here: Served, http: httpx2.Client) -> None:
    async def require(wanted: bool) -> None:
        await here.gateway.core.stores.settings.patch({"requireApiKey": wanted})
        await here.gateway.core.refresh()

    url = f"{here.url}/v1/realtime/auth"
    open_answer = http.get(url)
    here.do(require(True))
    try:
        missing, invalid = http.get(url), http.get(url, headers={"authorization": "Bearer sk-x"})
        chat = post(http, here, "openai")
    finally:
        here.do(require(False))

    assert open_answer.json() == {"ok": True}
    assert (missing.status_code, invalid.status_code, chat.status_code) == (401, 401, 401)
    assert missing.json()["error"] == {
        "message": "Missing API key",
        "type": "invalid_request_error",
        "code": "invalid_api_key",
    }
    assert invalid.json()["error"]["message"] == "Invalid API key"


def test_what_was_heard_of_a_broken_answer_is_counted(here: Served, http: httpx2.Client) -> None:
    start = {**json.loads(CLAUDE), "content": [], "stop_reason": None}
    empty = {"type": "text", "text": ""}
    block = {"type": "content_block_start", "index": 0, "content_block": empty}
    delta = {"type": "text_delta", "text": "x" * 400}
    frames = [
        b"event: %b\ndata: %b\n\n" % (event["type"].encode(), json.dumps(event).encode())
        for event in (
            {"type": "message_start", "message": start},
            block,
            {"type": "content_block_delta", "index": 0, "delta": delta},
        )
    ]
    CLAUDE_VENDOR.say = lambda _: Said.stream(*frames, cut=True)

    answer = post(http, here, "claude", model="v-claude/m", stream=True)

    assert "event: error" in answer.text
    row = here.rows()[0]
    assert (row.status, row.estimated) == ("upstream_cut", True)
    assert (row.input_tokens, row.output_tokens) == (3, 100)


def test_counting_tokens(here: Served, http: httpx2.Client) -> None:
    CLAUDE_VENDOR.say = lambda _: Said((b'{"input_tokens": 4711}',))
    path = f"{here.url}/v1/messages/count_tokens"
    body = {"messages": [{"role": "user", "content": "twelve chars"}]}

    native = http.post(path, json={**body, "model": "v-claude/m"})
    guessed = http.post(path, json={**body, "model": "v-openai/m"})
    nameless = http.post(path, json=body)

    assert native.json() == {"input_tokens": 4711}
    assert here.vendors["claude"].asked[-1].target == "/messages/count_tokens"
    assert guessed.json() == {"input_tokens": 3, "approximate": True}
    assert nameless.json() == {"input_tokens": 3, "approximate": True}


@pytest.mark.parametrize("vendor", ["v-claude/m", "v-openai/m"])
def test_a_messages_request_that_ends_with_the_assistant_goes_on(
    here: Served, http: httpx2.Client, vendor: str
) -> None:
    turns = [{"role": "user", "content": "q"}, {"role": "assistant", "content": "The answer is"}]
    body = {"model": vendor, "max_tokens": 9, "messages": turns}

    http.post(here.url + PATHS["claude"], json=body)
    kept = {"x-gateway-assistant-prefill": "preserve"}
    http.post(here.url + PATHS["claude"], json=body, headers=kept)

    repaired, preserved = (asked.json() for asked in here.vendors[vendor[2:-2]].asked[-2:])
    if vendor == "v-claude/m":
        assert [turn["role"] for turn in repaired["messages"]] == ["user", "assistant", "user"]
    assert preserved["messages"][-1]["role"] == "assistant"
