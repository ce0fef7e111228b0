"""The rules of the facade: who may call, what is sent, what is counted, what comes back."""

import json
from typing import Any

import pytest
from fake_vendor import MockResponse, ReceivedRequest
from native_gateway import SECRET, Native, error_of

CHAT = "openai/v1/chat/completions"
MODEL = "openai/gpt-4o"
NO_SESSIONS = (403, "Usage-capped API keys cannot mint direct native sessions")
NO_BACKGROUND = (
    403,
    "Usage-capped API keys cannot delegate native background or batch inference",
)
SESSIONS = (
    ("/v1/realtime/client_secrets", "gpt-realtime-2"),
    ("/v1/realtime/translations/client_secrets", "gpt-realtime-translate"),
    ("/v1/realtime/transcription_sessions", "gpt-realtime-whisper"),
    ("/v1/live/sessions", "gpt-live-1"),
)
CAPS: list[dict[str, Any]] = [
    {"policy": {"maxTokens": 1_000_000}},
    {"policy": {"maxCostUsd": 5}},
    {"policy": {"rpmLimit": 100}},
    {"policy": {"tpmLimit": 100_000}},
    {"policy": {"monthlyBudget": 5}},
    {"dailyLimitTokens": 1_000_000},
]
JSON = "application/json"


def usage(read: int, written: int) -> dict[str, int]:
    return {"prompt_tokens": read, "completion_tokens": written, "total_tokens": read + written}


@pytest.mark.parametrize("path", ["/v1/native/openai{0}", "{0}"], ids=["native", "top"])
@pytest.mark.parametrize(("session", "model"), SESSIONS, ids=[path for path, _ in SESSIONS])
def test_a_direct_session_comes_back_as_the_vendor_gave_it(
    native: Native, path: str, session: str, model: str
) -> None:
    given = b'{"value": "ek_1", "expires_at":1.50e3,"session":{"id":"s"}}'
    gateway = native(lambda received: MockResponse((given,)))
    body = b'{"session":{"type":"realtime" ,"model":"openai/%b"}, "n":1.0}' % model.encode()

    made = gateway.call_at(
        "POST", path.format(session), content=body, headers={"content-type": JSON}
    )

    assert (made.status_code, made.content) == (200, given)
    [received] = gateway.received
    assert (received.method, received.target) == ("POST", session)
    assert received.body == body.replace(b"openai/", b"")


@pytest.mark.parametrize("cap", CAPS, ids=str)
def test_a_key_with_a_cap_gets_no_direct_session_and_no_background(
    native: Native, cap: dict[str, Any]
) -> None:
    gateway = native()
    key = gateway.key("capped", **cap)["key"]

    for path, model in SESSIONS:
        body = {"model": f"openai/{model}"}
        for at in (path, f"/v1/native/openai{path}"):
            refused = gateway.call_at("POST", at, key=key, json=body)
            assert error_of(refused) == NO_SESSIONS
    body = {"model": MODEL, "background": True}
    background = gateway.call("POST", "openai/v1/responses", key=key, json=body)
    row = {"custom_id": "1", "params": {"model": "anthropic/claude-haiku-4-5"}}
    batch = gateway.call("POST", "anthropic/v1/messages/batches", key=key, json={"requests": [row]})

    assert error_of(background) == error_of(batch) == NO_BACKGROUND
    assert gateway.received == []


def test_a_key_without_a_cap_may_do_both(native: Native) -> None:
    gateway = native(lambda received: MockResponse((b'{"id":"1"}',)))
    key = gateway.key("free", policy={"modelAccess": {"mode": "allow", "patterns": ["*"]}})["key"]
    body = {"session": {"model": "openai/gpt-realtime-2"}}

    session = gateway.call_at("POST", "/v1/realtime/client_secrets", key=key, json=body)
    body = {"model": MODEL, "background": True}
    background = gateway.call("POST", "openai/v1/responses", key=key, json=body)

    assert session.status_code == background.status_code == 200


def test_a_capped_key_may_stream_and_spends_its_last_allowance(native: Native) -> None:
    answer = json.dumps({"choices": [], "usage": usage(90, 20)}).encode()
    gateway = native(lambda received: MockResponse((answer,)))
    key = gateway.key("capped", policy={"maxTokens": 100})["key"]

    first = gateway.call("POST", CHAT, key=key, json={"model": MODEL, "messages": []})
    second = gateway.call("POST", CHAT, key=key, json={"model": MODEL, "messages": []})

    assert first.content == answer
    assert error_of(second) == (429, "API key token limit reached (110/100 tokens)")


def test_a_restricted_key_names_the_model_of_its_session(native: Native) -> None:
    gateway = native()
    key = gateway.key("narrow", policy={"allowedModels": ["openai/gpt-realtime-mini"]})["key"]
    query = "?model=openai/gpt-realtime-mini"

    refused = gateway.call_at("POST", f"/v1/realtime/client_secrets{query}", key=key, json={})

    assert error_of(refused) == (400, "Missing gateway model identity")


NESTED: list[tuple[str, dict[str, Any]]] = [
    ("openai/v1/responses", {"tools": [{"type": "advisor_20260301", "model": "{}"}]}),
    ("openai/v1/realtime/client_secrets", {"input_audio_transcription": {"model": "{}"}}),
    (
        "openai/v1/realtime/client_secrets",
        {"session": {"audio": {"input": {"transcription": {"model": "{}"}}}}},
    ),
    (
        "openai/v1/live/sessions",
        {"session": {"delegation": {"responses": {"model": "{}"}}}},
    ),
    ("anthropic/v1/messages", {"tools": [{"model": "{}", "type": "advisor_1"}]}),
    ("anthropic/v1/messages/batches", {"requests": [{"params": {"model": "{}"}}]}),
]
MAIN = {
    "openai/v1/responses": "gpt-4o",
    "openai/v1/realtime/client_secrets": "gpt-realtime-2",
    "openai/v1/live/sessions": "gpt-live-1",
    "anthropic/v1/messages": "claude-haiku-4-5",
    "anthropic/v1/messages/batches": "claude-haiku-4-5",
}
ADVISORS = {"openai": "gpt-4.1", "anthropic": "claude-opus-4-5"}


@pytest.mark.parametrize(("path", "body"), NESTED)
def test_a_nested_model_is_checked_and_rewritten(
    native: Native, path: str, body: dict[str, Any]
) -> None:
    gateway = native(lambda received: MockResponse((b'{"id":"1"}',)))
    provider = path.partition("/")[0]
    advisor, main = ADVISORS[provider], f"{provider}/{MAIN[path]}"
    patterns = [f"{provider}/{advisor}"]
    key = gateway.key("k", policy={"modelAccess": {"mode": "deny", "patterns": patterns}})["key"]
    whole = {**body, "prompt": "{}"}
    if "batches" not in path:
        whole["model"] = main

    def send(model: str, key: str = "") -> Any:
        text = json.dumps(whole).replace("{}", model)
        return gateway.call("POST", path, key=key, content=text, headers={"content-type": JSON})

    denied = send(f"{provider}/{advisor}", key)
    unknown = send(f"{provider}/no-such")
    foreign = send("deepseek/deepseek-chat")
    assert gateway.received == []
    sent = send(f"{provider}/{advisor}")

    named = f'Model "{provider}/{advisor}" is not allowed for this API key'
    assert error_of(denied) == (403, named)
    assert error_of(unknown) == (400, "Unknown native provider model")
    assert error_of(foreign) == (400, "Model does not belong to native provider")
    assert sent.status_code == 200
    text = json.dumps({**whole, **({"model": MAIN[path]} if "model" in whole else {})})
    wanted = json.loads(text.replace("{}", advisor))
    assert gateway.received[0].json() == {**wanted, "prompt": f"{provider}/{advisor}"}


def test_a_policy_holds_for_every_spelling_of_a_model(native: Native) -> None:
    gateway = native()
    key = gateway.key("k", policy={"modelAccess": {"mode": "deny", "patterns": ["openai/gpt-4o"]}})
    alias = {"model": MODEL, "alias": "quick"}
    put = gateway.http.put(f"{gateway.here.url}/api/models/alias", json=alias)
    assert put.status_code < 300, put.text

    for name in (MODEL, "gpt-4o", "openai/GPT-4o", "quick"):
        for more in ({"json": {"model": name}}, {"params": {"model": name}, "json": {}}):
            refused = gateway.call("POST", CHAT, key=key["key"], **more)
            assert refused.status_code == 403, name
    assert gateway.received == []
    assert gateway.call("POST", CHAT, json={"model": "quick"}).status_code == 200
    assert gateway.received[0].json() == {"model": "gpt-4o"}


def test_two_identities_are_refused(native: Native) -> None:
    gateway = native()
    params = {"model": "openai/gpt-4.1"}

    mixed = gateway.call("POST", CHAT, params=params, json={"model": MODEL})
    same = gateway.call("POST", CHAT, params={"model": MODEL}, json={"model": "gpt-4o"})

    assert error_of(mixed) == (400, "Mixed model identities")
    assert same.status_code == 200


def test_a_disabled_model_is_refused(native: Native) -> None:
    gateway = native()
    body = {"providerAlias": "openai", "ids": ["gpt-4o"]}
    put = gateway.http.post(f"{gateway.here.url}/api/models/disabled", json=body)
    assert put.status_code < 300, put.text

    refused = gateway.call("POST", CHAT, json={"model": MODEL})

    assert refused.status_code == 400
    assert gateway.received == []


def test_a_key_keeps_to_its_accounts(native: Native) -> None:
    gateway = native()
    own, other = gateway.pins["anthropic"], gateway.pins["openai"]
    key = gateway.key("k", providerConnectionIds=[own])["key"]

    foreign = gateway.call("POST", CHAT, key=key, pin=other, json={"model": MODEL})
    nobody = gateway.call("POST", CHAT, key=key, json={"model": MODEL})
    params = {"model": "anthropic/claude-haiku-4-5"}
    listed = gateway.call("GET", "anthropic/v1/files", key=key, pin=own, params=params)

    assert error_of(foreign) == (403, "Forbidden")
    assert error_of(nobody) == (503, "Provider account unavailable")
    assert listed.status_code == 200


def test_a_pin_is_never_replaced_by_a_sibling(native: Native, add_account: Any) -> None:
    def say(received: ReceivedRequest) -> MockResponse:
        is_first = received.headers["authorization"] == f"Bearer {SECRET}"
        return (
            MockResponse((b'{"error":{"message":"slow down"}}',), status=429)
            if is_first
            else MockResponse()
        )

    gateway = native(say)
    vendor = gateway.here.vendors["vendor"].url
    add_account(
        gateway.here, "openai", "sk-second", providerSpecificData={"baseUrl": f"{vendor}/v1"}
    )
    pin = gateway.pins["openai"]

    answers = [
        gateway.call("POST", CHAT, pin=pin, json={"model": MODEL}).status_code for _ in range(2)
    ]
    refused = gateway.call("POST", CHAT, pin=pin, json={"model": MODEL})
    free = gateway.call("POST", CHAT, json={"model": MODEL})

    assert answers == [429, 503]
    assert error_of(refused) == (503, "Provider account unavailable")
    assert "retry-after" in refused.headers
    assert free.status_code == 200


def test_only_some_headers_go_to_the_vendor_and_come_back(native: Native) -> None:
    given = {
        "content-disposition": 'attachment; filename="a.jsonl"',
        "x-request-id": "req_vendor",
        "set-cookie": "a=b",
        "x-internal": "1",
    }
    gateway = native(lambda received: MockResponse((b"{}",), headers=given))
    sent = {
        "accept": "application/json",
        "content-type": "application/json; charset=utf-8",
        "anthropic-version": "2024-01-01",
        "anthropic-beta": "files-api-2025-04-14",
        "anthropic-workspace-id": "w",
        "idempotency-key": "i",
        "openai-beta": "o",
        "x-client-request-id": "c",
    }
    hidden = {
        "authorization": "Bearer sk-own",
        "x-goog-api-key": "k",
        "openai-organization": "org",
        "cookie": "a=b",
        "x-forwarded-for": "1.2.3.4",
        "x-anything": "1",
    }
    body = b'{"model":"anthropic/claude-haiku-4-5"}'
    headers = {**sent, **{k: v for k, v in hidden.items() if k != "x-forwarded-for"}}

    found = gateway.call("POST", "anthropic/v1/messages", content=body, headers=headers)

    [received] = gateway.received
    assert {name: received.headers.get(name) for name in sent} == sent
    assert not set(hidden) & set(received.headers)
    assert received.headers["x-api-key"] == SECRET
    assert found.headers["content-disposition"] == given["content-disposition"]
    assert found.headers["cache-control"] == "no-store"
    assert not {"set-cookie", "x-internal"} & set(found.headers)
    assert len(found.headers["x-request-id"]) == 36


def test_the_callers_key_and_the_model_are_no_part_of_the_vendors_query(native: Native) -> None:
    gateway = native()
    key = gateway.key("k")["key"]
    query = f"after=a%2Bb&model={MODEL}&key={key}&limit=5&x="

    assert gateway.call("POST", f"{CHAT}?{query}", json={}).status_code == 200
    assert gateway.received[0].target == "/v1/chat/completions?after=a%2Bb&limit=5&x="


def test_every_byte_but_the_models_name_is_kept(native: Native) -> None:
    gateway = native()
    text = (
        '{ "seed":1.0e0,\t"model" : "openai\\/gpt-4o" ,"x":"\\u00e9é", "n":12345678901234567890}\n'
    )

    assert gateway.call("POST", CHAT, content=text.encode()).status_code == 200
    wanted = text.replace('"openai\\/gpt-4o"', '"gpt-4o"')
    assert gateway.received[0].body == wanted.encode()


@pytest.mark.parametrize(
    ("body", "message"),
    [
        (b"{", "Invalid JSON body"),
        (b"[]", "Invalid JSON body"),
        (b"", "Invalid JSON body"),
        (b'{"model":"openai/gpt-4o","model":"openai/gpt-4.1"}', "Ambiguous native model field"),
        (b'{"model":"openai/gpt-4o","Model":"openai/gpt-4.1"}', "Ambiguous native model field"),
        (b'{"model":7}', "Unknown native provider model"),
        (b'{"model":null}', "Missing gateway model identity"),
        (b"{}", "Missing gateway model identity"),
    ],
)
def test_a_body_that_says_two_things_or_nothing_is_refused(
    native: Native, body: bytes, message: str
) -> None:
    gateway = native()

    refused = gateway.call("POST", CHAT, content=body)

    assert error_of(refused) == (400, message)
    assert gateway.received == []


@pytest.mark.parametrize(
    ("headers", "content"),
    [
        ({"content-type": "multipart/form-data; boundary=x"}, b"--x\r\nbroken"),
        ({"content-type": "multipart/form-data"}, b"--x--"),
        ({"content-type": JSON}, b"{}"),
    ],
)
def test_what_is_no_form_is_refused(native: Native, headers: Any, content: bytes) -> None:
    gateway = native()
    path = "anthropic/v1/files?model=anthropic/claude-haiku-4-5"

    refused = gateway.call("POST", path, headers=headers, content=content)

    assert error_of(refused) == (400, "Invalid multipart body")


def test_a_form_goes_on_with_the_vendors_model_and_its_file_last(native: Native) -> None:
    gateway = native()
    content = bytes(range(256)) * 20_000
    files = {"file": ("a.wav", content, "audio/wav")}
    data = {"model": "cohere/cohere-transcribe-03-2026", "language": "en"}

    assert (
        gateway.call("POST", "cohere/v2/audio/transcriptions", data=data, files=files).status_code
        == 200
    )
    [received] = gateway.received
    assert received.headers["content-type"].startswith("multipart/form-data; boundary=")
    body = received.body
    assert body.index(b"cohere-transcribe-03-2026\r\n") < body.index(b"en\r\n")
    assert body.index(b'name="language"') < body.index(b'name="file"')
    assert content in body
    assert b"cohere/" not in body


def test_a_model_that_the_vendor_has_no_name_for_is_left_out_of_a_form(native: Native) -> None:
    gateway = native()
    files = [("file", ("a.wav", b"RIFF", "audio/wav")), ("language", (None, b"en"))]
    data = {"model": "xai/stt"}

    assert gateway.call("POST", "xai/v1/stt", data=data, files=files).status_code == 200
    body = gateway.received[0].body
    assert b'name="model"' not in body
    assert body.index(b'name="language"') < body.index(b'name="file"')


@pytest.mark.parametrize(
    "path",
    [CHAT, "minimax/v1/chat/completions", "minimax-cn/v1/text/chatcompletion_v2"],
)
def test_a_chat_stream_is_made_to_report_its_usage(native: Native, path: str) -> None:
    pieces = (
        b'data: {"choices":[{"delta":{"content":"Hi"}}]}\n\n',
        b'data: {"choices":[],"usage":{"prompt_tokens":3,"completion_tokens":2}}\n\n',
        b"data: [DONE]\n\n",
    )
    gateway = native(lambda received: MockResponse.stream(*pieces))
    provider = path.partition("/")[0]
    model = "gpt-4o" if provider == "openai" else "MiniMax-M3"
    body = {"model": f"{provider}/{model}", "stream": True}

    streamed = gateway.call("POST", path, json=body)

    assert streamed.content == b"".join(pieces)
    assert gateway.received[0].json() == {
        "model": model,
        "stream": True,
        "stream_options": {"include_usage": True},
    }
    [row] = gateway.rows()
    assert (row.input_tokens, row.output_tokens, row.stream) == (3, 2, True)


def test_usage_is_recorded_before_the_end_of_a_stream(native: Native) -> None:
    start = {"type": "message_start", "message": {"usage": {"input_tokens": 5}}}
    delta = {"type": "message_delta", "usage": {"output_tokens": 9, "cache_read_input_tokens": 4}}
    stop = {"type": "message_stop"}
    frames = [b"data: " + json.dumps(each).encode() + b"\n\n" for each in (start, delta, stop)]
    gateway = native(lambda received: MockResponse.stream(*frames))
    seen: list[int] = []
    core = gateway.here.gateway.core
    body = {"model": "anthropic/claude-haiku-4-5", "stream": True}
    url = f"{gateway.here.url}/v1/native/anthropic/v1/messages"

    with gateway.http.stream("POST", url, json=body) as answer:
        for piece in answer.iter_raw():
            if b"message_stop" in piece:
                seen = [row.output_tokens for row in core.ledger.waiting]
                seen = seen or [row.output_tokens for row in gateway.rows()]

    assert seen == [9]
    [row] = gateway.rows()
    assert (row.input_tokens, row.output_tokens, row.cached_tokens) == (9, 9, 4)


def test_a_stream_that_its_client_leaves_is_estimated(native: Native) -> None:
    frame = b'data: {"choices":[{"delta":{"content":"%b"}}]}\n\n' % (b"x" * 400)
    gateway = native(lambda received: MockResponse.stream(frame, hang=True))
    url = f"{gateway.here.url}/v1/native/{CHAT}"

    with gateway.http.stream("POST", url, json={"model": MODEL, "stream": True}) as answer:
        next(answer.iter_raw())
    while not (rows := gateway.rows()):
        continue
    [row] = rows
    assert (row.output_tokens, row.estimated) == (100, True)


def test_media_without_tokens_are_estimated_by_their_text(native: Native) -> None:
    gateway = native(lambda received: MockResponse((b"\0" * 5000,), content_type="audio/mpeg"))
    body = {"model": "xai/tts", "text": "x" * 40, "voice": "y" * 4000}

    spoken = gateway.call("POST", "xai/v1/tts", json=body)

    assert (spoken.content, spoken.headers["content-type"]) == (b"\0" * 5000, "audio/mpeg")
    [row] = gateway.rows()
    assert (row.input_tokens, row.output_tokens, row.estimated) == (10, 0, True)


def test_a_redirect_is_an_error(native: Native) -> None:
    gateway = native(
        lambda received: MockResponse(status=302, headers={"location": "http://127.0.0.1/"})
    )

    found = gateway.call("POST", CHAT, json={"model": MODEL})

    assert error_of(found) == (502, "Native provider request failed")
    assert "location" not in found.headers
    assert len(gateway.received) == 1


def test_a_vendor_that_cannot_be_reached_is_an_error(native: Native) -> None:
    gateway = native(lambda received: MockResponse.stream(cut=True))

    found = gateway.call("POST", CHAT, json={"model": MODEL})

    assert error_of(found) == (502, "Native provider request failed")


def test_a_vendors_error_is_wrapped_and_shows_no_secret(native: Native) -> None:
    words = f"Incorrect key {SECRET} at /home/me/key"
    error = {"error": {"message": words, "type": "odd_error", "code": SECRET}}
    gateway = native(lambda received: MockResponse((json.dumps(error).encode(),), status=418))

    found = gateway.call("POST", CHAT, json={"model": MODEL})

    assert found.status_code == 418
    assert SECRET not in found.text
    assert "/home/me" not in found.text
    shown = found.json()["error"]
    assert shown["type"] == "odd_error"
    assert shown["request_id"] == found.headers["x-request-id"]


def test_no_more_than_the_beginning_of_an_error_is_read(native: Native) -> None:
    def say(received: ReceivedRequest) -> MockResponse:
        return MockResponse((b"a" * 8192, b"b" * 100_000), status=400, content_type="text/plain")

    gateway = native(say)

    found = gateway.call("POST", CHAT, json={"model": MODEL})

    assert found.status_code == 400
    assert "b" not in found.json()["error"]["message"]


def test_the_vendors_status_is_kept(native: Native) -> None:
    def say(received: ReceivedRequest) -> MockResponse:
        return MockResponse(
            (b'{"request_id":"v1"}',), status=200 if received.method == "POST" else 202
        )

    gateway = native(say)
    model = {"model": "xai/grok-imagine-video"}
    made = gateway.call("POST", "xai/v1/videos/generations", json=model)
    pin = made.headers["x-gateway-connection-id"]

    assert gateway.call("GET", "xai/v1/videos/v1", pin=pin, params=model).status_code == 202


def test_a_vendor_that_knows_nothing_of_an_id_costs_the_account_nothing(native: Native) -> None:
    def say(received: ReceivedRequest) -> MockResponse:
        if received.method == "GET":
            return MockResponse((b'{"error":{"message":"no such response"}}',), status=404)
        return MockResponse((b'{"id":"r1","usage":{"input_tokens":1}}',))

    gateway = native(say)
    made = gateway.call("POST", "openai/v1/responses", json={"model": MODEL})
    pin = made.headers["x-gateway-connection-id"]
    params = {"model": MODEL}

    polls = [
        gateway.call("GET", "openai/v1/responses/r1", pin=pin, params=params) for _ in range(3)
    ]

    assert [error_of(each) for each in polls] == [(404, "no such response")] * 3
    again = gateway.call("POST", "openai/v1/responses", json={"model": MODEL})
    assert again.status_code == 200


def test_a_key_is_needed_where_keys_are_required(native: Native) -> None:
    gateway = native()
    gateway.http.patch(f"{gateway.here.url}/api/settings", json={"requireApiKey": True})

    missing = gateway.call("POST", CHAT, json={"model": MODEL})
    wrong = gateway.call("POST", CHAT, key="sk-wrong", json={"model": MODEL})

    assert error_of(missing) == (401, "Missing API key")
    assert error_of(wrong) == (401, "Invalid API key")


def test_the_chinese_platform_has_an_origin_of_its_own(native: Native) -> None:
    gateway = native()
    providers = gateway.here.gateway.core.snapshot.registry.providers
    origins = {
        "openai": "https://api.openai.com",
        "anthropic": "https://api.anthropic.com",
        "minimax": "https://api.minimax.io",
        "minimax-cn": "https://api.minimax.cn",
        "xai": "https://api.x.ai",
        "cohere": "https://api.cohere.com",
    }

    for provider, origin in origins.items():
        spec = providers[provider]
        assert (spec.native_url or spec.base_url or "").startswith(f"{origin}")
        reach = gateway.here.gateway.core.egress_policy.reach(spec)
        assert reach.covers(f"{origin}:443")


PARSE = "cohere/v2/parse"
PIXEL = "data:image/png;base64,iVBORw0KGgo="


IMAGES: list[Any] = [PIXEL, {"url": PIXEL}, "https://images.test/a"]
NO_IMAGES: list[Any] = [
    None,
    "text",
    {"type": "file_url", "file_url": "https://files.test/a.pdf"},
    {"type": "file_url", "image_url": PIXEL},
    {"type": "image_url"},
    {"type": "image_url", "image_url": "data:application/pdf;base64,JVBERi0="},
    {"type": "image_url", "image_url": {"url": "DATA:application/pdf;base64,JVBERi0="}},
    {"type": "image_url", "image_url": 7},
    {"type": "text", "text": "hello"},
    [{"type": "image_url", "image_url": PIXEL}],
]


def test_only_images_are_parsed(native: Native) -> None:
    gateway = native()

    for document in NO_IMAGES:
        body = {"model": "cohere/parse-v5.0", "document": document}
        refused = gateway.call("POST", PARSE, json=body)
        assert error_of(refused) == (400, "Only images can be parsed"), document
    assert gateway.received == []

    for address in IMAGES:
        document = {"type": "image_url", "image_url": address}
        body = {"model": "cohere/parse-v5.0", "document": document}
        gateway.call("POST", PARSE, json=body)
        assert gateway.received[-1].json() == {"model": "parse-v5.0", "document": document}
