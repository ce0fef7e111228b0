"""Every operation of the facade, allowed with the right account and owner, and refused otherwise.

The table is written from the vendors' pages and not taken from the plugins.
"""

from collections.abc import Iterator
from typing import Any, NamedTuple

import httpx2
import msgspec
import pytest
from fake_vendor import MockResponse, ReceivedRequest
from native_gateway import SECRET, NativeGateway, error_of, serve_native

MODELS = {
    ("openai", "llm"): "gpt-4o",
    ("openai", "realtime"): "gpt-realtime-2",
    ("openai", "realtime-translation"): "gpt-realtime-translate",
    ("openai", "realtime-transcription"): "gpt-realtime-whisper",
    ("openai", "live"): "gpt-live-1",
    ("anthropic", "llm"): "claude-haiku-4-5",
    ("minimax", "llm"): "MiniMax-M3",
    ("minimax", "stt"): "asr-1.0",
    ("minimax", "tts"): "speech-2.8-hd",
    ("minimax", "image"): "image-01",
    ("minimax", "music"): "music-3.0",
    ("minimax", "video"): "MiniMax-H3",
    ("xai", "llm"): "grok-4",
    ("xai", "image"): "grok-2-image-1212",
    ("xai", "video"): "grok-imagine-video",
    ("xai", "tts"): "tts",
    ("xai", "stt"): "stt",
    ("cohere", "document-parsing"): "parse-v5.0",
    ("cohere", "embedding"): "embed-v4.0",
    ("cohere", "rerank"): "rerank-v3.5",
    ("cohere", "stt"): "cohere-transcribe-03-2026",
}


class Row(NamedTuple):
    provider: str
    method: str
    path: str
    kind: str
    """Of the model; empty for any."""
    marks: str = ""
    """``ret``, ``bind``, ``poll``, ``form``."""
    creates: str = ""
    """The family of what it creates."""
    uses: str = ""
    """The family and where its id is."""

    @property
    def model(self) -> str:
        provider = self.provider.removesuffix("-cn")
        kinds = ("llm", "tts") if not self.kind else (self.kind,)
        return next(MODELS[provider, kind] for kind in kinds if (provider, kind) in MODELS)

    def has(self, mark: str) -> bool:
        return mark in self.marks.split()


OPENAI = [
    Row("openai", "POST", "/v1/responses", "llm", "ret", "response"),
    Row("openai", "GET", "/v1/responses/{id}", "llm", "bind poll", uses="response path"),
    Row("openai", "POST", "/v1/responses/{id}/cancel", "llm", "bind", uses="response path"),
    Row("openai", "DELETE", "/v1/responses/{id}", "llm", "bind", uses="response path"),
    Row("openai", "POST", "/v1/chat/completions", "llm"),
    Row("openai", "POST", "/v1/realtime/client_secrets", "realtime"),
    Row("openai", "POST", "/v1/realtime/translations/client_secrets", "realtime-translation"),
    Row("openai", "POST", "/v1/realtime/transcription_sessions", "realtime-transcription"),
    Row("openai", "POST", "/v1/live/sessions", "live"),
]
BATCHES = "/v1/messages/batches"
ANTHROPIC = [
    Row("anthropic", "POST", "/v1/messages", "llm"),
    Row("anthropic", "POST", BATCHES, "llm", "ret", "batch"),
    Row("anthropic", "GET", BATCHES, "llm", "bind"),
    Row("anthropic", "GET", f"{BATCHES}/{{id}}", "llm", "bind", uses="batch path"),
    Row("anthropic", "GET", f"{BATCHES}/{{id}}/results", "llm", "bind", uses="batch path"),
    Row("anthropic", "POST", f"{BATCHES}/{{id}}/cancel", "llm", "bind", uses="batch path"),
    Row("anthropic", "DELETE", f"{BATCHES}/{{id}}", "llm", "bind", uses="batch path"),
    Row("anthropic", "POST", "/v1/files", "", "ret form", "file"),
    Row("anthropic", "GET", "/v1/files", "", "bind"),
    Row("anthropic", "GET", "/v1/files/{id}", "", "bind", uses="file path"),
    Row("anthropic", "GET", "/v1/files/{id}/content", "", "bind", uses="file path"),
    Row("anthropic", "DELETE", "/v1/files/{id}", "", "bind", uses="file path"),
]
MINIMAX = [
    Row("minimax", "POST", "/anthropic/v1/messages", "llm", "x-api-key"),
    Row("minimax", "POST", "/v1/chat/completions", "llm"),
    Row("minimax", "POST", "/v1/responses", "llm"),
    Row("minimax", "POST", "/v1/text/chatcompletion_v2", "llm"),
    Row("minimax", "POST", "/v1/speech_to_text", "stt", "form"),
    Row("minimax", "POST", "/v1/t2a_v2", "tts"),
    Row("minimax", "POST", "/v1/image_generation", "image"),
    Row("minimax", "POST", "/v1/music_generation", "music"),
    Row("minimax", "POST", "/v1/lyrics_generation", "music"),
    Row("minimax", "POST", "/v1/music_cover_preprocess", "music"),
    Row("minimax", "POST", "/v1/t2a_async_v2", "tts", "ret", "speech"),
    Row(
        "minimax",
        "GET",
        "/v1/query/t2a_async_query_v2",
        "tts",
        "bind poll",
        uses="speech task_id",
    ),
    Row("minimax", "POST", "/v1/voice_design", "tts", "ret", "voice"),
    Row("minimax", "POST", "/v1/voice_clone", "tts", "ret"),
    Row("minimax", "POST", "/v1/get_voice", "tts", "bind"),
    Row("minimax", "POST", "/v1/delete_voice", "tts", "bind", uses="voice body"),
    Row("minimax", "POST", "/v1/files/upload", "", "ret form", "file"),
    Row("minimax", "GET", "/v1/files/retrieve", "", "bind", uses="file file_id"),
    Row("minimax", "GET", "/v1/files/retrieve_content", "", "bind", uses="file file_id"),
    Row("minimax", "POST", "/v2/video_generation", "video", "ret", "video"),
    Row("minimax", "POST", "/v2/h3_context_ir", "video", "ret", "video"),
    Row("minimax", "POST", "/v2/video_regeneration", "video", "ret", "video"),
    Row("minimax", "POST", "/v1/video_generation", "video", "ret", "video"),
    Row("minimax", "GET", "/v2/query/video_generation", "video", "bind poll", uses="video task_id"),
    Row(
        "minimax", "GET", "/v2/query/video_generation/{id}", "video", "bind poll", "", "video path"
    ),
    Row("minimax", "DELETE", "/v2/video_generation/{id}", "video", "bind", uses="video path"),
    Row("minimax", "GET", "/v1/query/video_generation", "video", "bind poll", uses="video task_id"),
]
XAI = [
    Row("xai", "POST", "/v1/responses", "llm"),
    Row("xai", "POST", "/v1/images/generations", "image"),
    Row("xai", "POST", "/v1/images/edits", "image"),
    Row("xai", "POST", "/v1/videos/generations", "video", "ret", "video"),
    Row("xai", "POST", "/v1/videos/edits", "video", "ret", "video"),
    Row("xai", "POST", "/v1/videos/extensions", "video", "ret", "video"),
    Row("xai", "GET", "/v1/videos/{id}", "video", "bind poll", uses="video path"),
    Row("xai", "POST", "/v1/tts", "tts"),
    Row("xai", "POST", "/v1/stt", "stt", "form"),
]
COHERE = [
    Row("cohere", "POST", "/v2/parse", "document-parsing"),
    Row("cohere", "POST", "/v2/embed", "embedding"),
    Row("cohere", "POST", "/v2/rerank", "rerank"),
    Row("cohere", "POST", "/v2/audio/transcriptions", "stt", "form"),
]
CHINA = [row._replace(provider="minimax-cn") for row in MINIMAX]

ROWS = [*OPENAI, *ANTHROPIC, *MINIMAX, *CHINA, *XAI, *COHERE]
IDS = [f"{row.provider}-{row.method}-{row.path}" for row in ROWS]
BOUND = [row for row in ROWS if row.has("bind")]
OWNED = [row for row in ROWS if row.uses]


class Shared:
    """One gateway for all rows; each test has a resource of its own."""

    def __init__(self, gateway: NativeGateway) -> None:
        self.gateway = gateway
        self.mine, self.other = gateway.key("mine")["key"], gateway.key("other")["key"]


def name_of(rows: list[Row]) -> list[str]:
    return [f"{row.provider}-{row.method}-{row.path}" for row in rows]


class Vendor:
    """Answers everything with one id, in the words of each vendor."""

    def __init__(self) -> None:
        self.id = 4711

    def say(self, received: ReceivedRequest) -> MockResponse:
        answer = {
            **dict.fromkeys(("id", "task_id", "voice_id", "request_id"), str(self.id)),
            "file": {"file_id": self.id},
            "usage": {"input_tokens": 7, "output_tokens": 2},
        }
        return MockResponse((msgspec.json.encode(answer),))


VENDOR = Vendor()


@pytest.fixture(scope="module")
def shared(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Shared]:
    with (
        httpx2.Client(trust_env=False, timeout=30) as http,
        serve_native(tmp_path_factory.mktemp("native"), VENDOR.say, http) as gateway,
    ):
        yield Shared(gateway)


@pytest.fixture
def gateway(shared: Shared) -> NativeGateway:
    VENDOR.id += 1
    shared.gateway.received.clear()
    return shared.gateway


def send(native: NativeGateway, row: Row, *, model: str | None = "", **more: Any) -> Any:
    """Make the call of a row about what the vendor names."""
    if model is not None:
        model = model or f"{row.provider}/{row.model}"
    _family, _, place = row.uses.partition(" ")
    path, query = row.path.replace("{id}", str(VENDOR.id)), {}
    if model is not None:
        query["model"] = model
    if place not in ("", "path", "body"):
        query[place] = str(VENDOR.id)
    if row.has("form"):
        more["files"] = {"file": ("a.wav", b"RIFF", "audio/wav")}
    elif row.method == "POST":
        body: dict[str, Any] = {"prompt": "hi"}
        if model is not None and not row.has("bind"):
            body["model"] = query.pop("model")
        if place == "body":
            body["voice_id"] = str(VENDOR.id)
        if path == "/v2/parse":
            body["document"] = {"type": "image_url", "image_url": "https://images.test/page.png"}
        more["json"] = body
    return native.call(row.method, f"{row.provider}{path}", params=query, **more)


def create(native: NativeGateway, row: Row, key: str = "") -> str:
    """Have the row's resource created; gives the account that it is at."""
    family = row.uses.partition(" ")[0]
    maker = next(r for r in ROWS if r.creates == family and r.provider == row.provider)
    answer = send(native, maker, key=key)
    assert answer.status_code == 200, answer.text
    native.received.clear()
    pin: str = answer.headers["x-gateway-connection-id"]
    return pin


@pytest.mark.parametrize("row", ROWS, ids=IDS)
def test_an_allowed_operation_reaches_its_path_with_the_accounts_key(
    gateway: NativeGateway, row: Row
) -> None:
    pin = gateway.pins[row.provider] if row.has("bind") else ""
    if row.uses:
        assert create(gateway, row) == pin

    answer = send(gateway, row, pin=pin)

    assert answer.status_code == 200, answer.text
    [received] = gateway.received
    assert (received.method, received.path) == (
        row.method,
        row.path.replace("{id}", str(VENDOR.id)),
    )
    assert "model=" not in received.target
    in_header = row.provider == "anthropic" or row.has("x-api-key")
    name, value = ("x-api-key", SECRET) if in_header else ("authorization", f"Bearer {SECRET}")
    assert received.headers[name] == value
    assert ("anthropic-version" in received.headers) is in_header
    shown = answer.headers.get("x-gateway-connection-id")
    assert shown == (gateway.pins[row.provider] if row.has("ret") else None)
    if row.method == "POST" and not row.has("form") and not row.has("bind"):
        assert received.json()["model"] == row.model


@pytest.mark.parametrize("row", BOUND, ids=name_of(BOUND))
def test_an_account_bound_operation_needs_its_account(gateway: NativeGateway, row: Row) -> None:
    unpinned = send(gateway, row)
    elsewhere = send(gateway, row, pin="no-such-account")
    other = gateway.pins["cohere"]
    foreign = send(gateway, row, pin=other)

    assert error_of(unpinned) == (400, "x-connection-id is required for account-bound operation")
    assert error_of(elsewhere) == (503, "Provider account unavailable")
    assert error_of(foreign) == (503, "Provider account unavailable")
    assert gateway.received == []


@pytest.mark.parametrize("row", OWNED, ids=name_of(OWNED))
def test_a_resource_is_for_its_creator_only(
    gateway: NativeGateway, shared: Shared, row: Row
) -> None:
    pin = gateway.pins[row.provider]
    unknown = send(gateway, row, pin=pin)
    mine, other = shared.mine, shared.other
    create(gateway, row, mine)
    refused = send(gateway, row, pin=pin, key=other)
    asked_before = list(gateway.received)
    own = send(gateway, row, pin=pin, key=mine)

    assert error_of(unknown) == (403, "Unknown native resource owner")
    assert error_of(refused) == (403, "Unknown native resource owner")
    assert asked_before == []
    assert own.status_code == 200


@pytest.mark.parametrize("row", ROWS, ids=IDS)
def test_a_model_has_to_be_named_and_to_be_this_vendors(gateway: NativeGateway, row: Row) -> None:
    pin = gateway.pins[row.provider] if row.has("bind") else ""
    unnamed = send(gateway, row, model=None, pin=pin)
    unknown = send(gateway, row, model=f"{row.provider}/no-such-model", pin=pin)
    foreign = send(gateway, row, model="deepseek/deepseek-chat", pin=pin)

    assert error_of(unnamed) == (400, "Missing gateway model identity")
    assert error_of(unknown) == (400, "Unknown native provider model")
    assert error_of(foreign) == (400, "Model does not belong to native provider")
    assert gateway.received == []


@pytest.mark.parametrize("row", [row for row in ROWS if row.kind and row.provider != "anthropic"])
def test_a_model_has_to_be_of_the_operations_kind(gateway: NativeGateway, row: Row) -> None:
    provider = row.provider.removesuffix("-cn")
    wrong = next(m for (p, k), m in MODELS.items() if p == provider and k != row.kind)
    pin = gateway.pins[row.provider] if row.has("bind") else ""

    answer = send(gateway, row, model=f"{row.provider}/{wrong}", pin=pin)

    assert error_of(answer) == (400, "Unknown native provider model")


@pytest.mark.parametrize(
    ("method", "path"),
    [
        ("GET", "openai/v1/responses"),
        ("POST", "openai/v1/embeddings"),
        ("POST", "openai/v1/responses/a.b/cancel"),
        ("DELETE", "openai/v1/chat/completions"),
        ("POST", "anthropic/v1/messages/count_tokens"),
        ("POST", "minimax/v2/video_generation/1"),
        ("GET", "xai/v1/models"),
        ("POST", "cohere/v2/chat"),
        ("PATCH", "cohere/v2/embed"),
    ],
)
def test_any_other_operation_is_unknown(gateway: NativeGateway, method: str, path: str) -> None:

    answer = gateway.call(method, path, json={"model": "openai/gpt-4o"})

    assert error_of(answer) == (404, "Unknown native operation")
    assert gateway.received == []


def test_only_vendors_with_operations_are_known(gateway: NativeGateway) -> None:

    for provider in ("deepseek", "nobody"):
        answer = gateway.call("POST", f"{provider}/v1/chat/completions", json={})
        assert error_of(answer) == (400, "Unknown provider")


def test_a_resource_is_for_the_model_that_made_it(gateway: NativeGateway) -> None:
    row = next(row for row in ROWS if row.path == "/v1/responses/{id}" and row.has("poll"))
    pin = create(gateway, row)

    answer = send(gateway, row, model="openai/gpt-4.1", pin=pin)

    assert error_of(answer) == (400, "Native resource model does not match its creation model")
    assert gateway.received == []


def test_the_plugins_declare_these_operations_and_no_others(gateway: NativeGateway) -> None:
    providers = gateway.here.gateway.core.snapshot.registry.providers
    declared = {
        (spec.id, each.method, each.path.replace("{task_id}", "{id}"))
        for spec in providers.values()
        for each in spec.native
    }

    assert declared == {(row.provider, row.method, row.path) for row in ROWS}
