"""Sound, edits, jobs and searches of several requests, of the vendors that have chat as well."""

import base64
import struct
from typing import Any

import httpx2
import msgspec
import openai
import pytest
from corpus import Item, answer, items
from fake_vendor import MockResponse, ReceivedRequest
from served_gateway import Served

from gateway_core import Call, Credential, Kind, Model, Target

PAGE = "https://example.com/reefs"
PNG = b"\x89PNG\r\n\x1a\n" + bytes(64)
B64 = base64.b64encode(PNG).decode()
SAMPLES = struct.pack("<4h", 0, 1000, -1000, 0)
WAV = ("hi.wav", b"RIFF-sound", "audio/wav")


def json_of(members: Any) -> MockResponse:
    return MockResponse((msgspec.json.encode(members),))


def client_of(here: Served) -> openai.OpenAI:
    return openai.OpenAI(base_url=f"{here.url}/v1", api_key="none", max_retries=0)


def recorded(folder: str, vendor: str, word: str = "") -> Item:
    return next(i for i in items(folder) if i["vendor"] == vendor and word in str(i["endpoint"]))


@pytest.mark.parametrize(
    ("model", "translates"),
    [
        ("groq/whisper-large-v3", True),
        ("together/openai/whisper-large-v3", True),
        ("mistral/voxtral-mini-latest", False),
        ("azure-openai/my-whisper", True),
    ],
)
def test_a_recording_is_passed_on(connected: Any, model: str, translates: bool) -> None:
    here: Served = connected(lambda received: json_of({"text": "Hello"}), model.partition("/")[0])
    client = client_of(here)

    heard = client.audio.transcriptions.create(model=model, file=WAV, language="en")
    assert heard.text == "Hello"
    if translates:
        url = f"{here.url}/v1/audio/translations"
        reported = httpx2.post(url, files={"file": WAV}, data={"model": model})
        assert reported.json() == {"text": "Hello"}

    received = here.vendors["vendor"].received
    paths = ["/v1/audio/transcriptions", "/v1/audio/translations"][: 1 + translates]
    assert [each.target for each in received] == paths
    assert model.partition("/")[2].encode() in received[0].body
    assert WAV[1] in received[0].body


@pytest.mark.parametrize(
    ("model", "host"),
    [("whisper-v3", "audio-prod"), ("whisper-v3-turbo", "audio-turbo")],
)
def test_each_model_of_speech_has_its_host(connected: Any, model: str, host: str) -> None:
    here: Served = connected(
        lambda received: json_of({"text": "Hello", "duration": 60.0}), "fireworks"
    )
    spec = here.gateway.core.snapshot.registry.providers["fireworks"]
    service = spec.service(Kind.TRANSCRIPTION)
    assert service is not None

    heard = client_of(here).audio.transcriptions.create(model=f"fireworks/{model}", file=WAV)

    [received] = here.vendors["vendor"].received
    call = Call(kind=Kind.TRANSCRIPTION, format="services", model=model, stream=False, body=b"")
    target = Target(spec, Model(model, kind=Kind.TRANSCRIPTION))
    usual = service.adapter.open(call, target, Credential(connection_id="c")).request.url
    assert heard.text == "Hello"
    assert received.target == "/v1/audio/transcriptions"
    assert usual == f"https://{host}.api.fireworks.ai/v1/audio/transcriptions"
    # A minute, in millionths of a dollar.
    assert here.rows()[0].cost == (900 if "turbo" in model else 1500)


def test_a_forms_fields_come_before_its_file(connected: Any) -> None:
    item = recorded("transcription", "cohere")
    here: Served = connected(lambda received: MockResponse((answer(item),)), "cohere")
    model = "cohere/cohere-transcribe-03-2026"

    heard = httpx2.post(
        f"{here.url}/v1/audio/transcriptions",
        files={"file": WAV},
        data={"model": model, "language": "en", "prompt": "x"},
    )
    refused = httpx2.post(
        f"{here.url}/v1/audio/transcriptions", files={"file": WAV}, data={"model": model}
    )

    assert heard.json() == msgspec.json.decode(answer(item))
    assert heard.headers["x-gateway-dropped"] == "prompt"
    [received] = here.vendors["vendor"].received
    assert received.target == "/v1/audio/transcriptions"
    names = [received.body.index(name) for name in (b'"model"', b'"language"', b'"file"')]
    assert names == sorted(names)
    assert (refused.status_code, refused.json()["error"]["param"]) == (400, "language")


def test_a_generative_model_writes_speech_down(connected: Any) -> None:
    written = {
        "candidates": [{"content": {"parts": [{"text": "Hello \n"}]}}],
        "usageMetadata": {"promptTokenCount": 30, "candidatesTokenCount": 2},
    }
    here: Served = connected(lambda received: json_of(written), "gemini")

    heard = client_of(here).audio.transcriptions.create(
        model="gemini/gemini-2.5-flash", file=WAV, language="de"
    )

    assert heard.text == "Hello"
    [received] = here.vendors["vendor"].received
    assert received.target == "/v1/models/gemini-2.5-flash:generateContent"
    words, sound = received.json()["contents"][0]["parts"]
    assert "The language is de." in words["text"]
    assert sound["inlineData"] == {
        "mimeType": "audio/wav",
        "data": base64.b64encode(WAV[1]).decode(),
    }
    row = here.rows()[0]
    assert (row.input_tokens, row.output_tokens) == (30, 2)


@pytest.mark.parametrize("wanted", ["mp3", "wav", "pcm"])
def test_a_generative_model_speaks_in_waves(connected: Any, wanted: str) -> None:
    piece = {
        "mimeType": "audio/L16;codec=pcm;rate=16000",
        "data": base64.b64encode(SAMPLES).decode(),
    }
    written = {
        "candidates": [{"content": {"parts": [{"inlineData": piece}]}}],
        "usageMetadata": {"promptTokenCount": 3, "candidatesTokenCount": 50},
    }
    here: Served = connected(lambda received: json_of(written), "gemini")
    members = {"input": "Hi", "voice": "Puck", "instructions": "Whisper", "response_format": wanted}

    got = httpx2.post(
        f"{here.url}/v1/audio/speech",
        json={"model": "gemini/gemini-2.5-flash-preview-tts", **members},
    )

    [received] = here.vendors["vendor"].received
    assert received.json() == {
        "contents": [{"role": "user", "parts": [{"text": "Whisper: Hi"}]}],
        "generationConfig": {
            "responseModalities": ["AUDIO"],
            "speechConfig": {"voiceConfig": {"prebuiltVoiceConfig": {"voiceName": "Puck"}}},
        },
    }
    if wanted == "pcm":
        assert (got.headers["content-type"], got.content) == ("audio/pcm", SAMPLES)
        return
    head = struct.pack(
        "<4sI4s4sIHHIIHH", b"RIFF", 44, b"WAVE", b"fmt ", 16, 1, 1, 16000, 32000, 2, 16
    )
    assert got.headers["content-type"] == "audio/wav"
    assert got.content == head + struct.pack("<4sI", b"data", 8) + SAMPLES
    assert got.headers.get("x-gateway-dropped", "") == (
        "response_format" if wanted == "mp3" else ""
    )


@pytest.mark.parametrize(
    "provider",
    [
        "openai/tts-1",
        "together/hexgrad/Kokoro-82M",
        "groq/canopylabs/orpheus-v1-english",
        "openrouter/openai/tts-1",
    ],
)
def test_speech_is_passed_on(connected: Any, provider: str) -> None:
    written = MockResponse((b"\xff\xf3speech",), content_type="audio/mpeg")
    here: Served = connected(lambda received: written, provider.partition("/")[0])

    made = client_of(here).audio.speech.create(model=provider, input="Hello", voice="alloy")

    assert made.content == b"\xff\xf3speech"
    [received] = here.vendors["vendor"].received
    assert received.target == "/v1/audio/speech"
    assert received.json()["model"] == provider.partition("/")[2]
    row = here.rows()[0]
    assert row.units == {"characters": 5}
    if provider.startswith("openai/"):
        assert row.cost == 75


def test_a_generative_model_changes_a_picture(connected: Any) -> None:
    made = {"inlineData": {"mimeType": "image/png", "data": B64}}
    written = {"candidates": [{"content": {"parts": [made]}}]}
    here: Served = connected(lambda received: json_of(written), "gemini")

    got = client_of(here).images.edit(
        model="gemini/gemini-2.5-flash-image", prompt="bluer", image=("a.png", PNG, "image/png")
    )

    assert got.data is not None
    assert got.data[0].b64_json == B64
    [received] = here.vendors["vendor"].received
    assert received.json()["contents"][0]["parts"] == [
        {"text": "bluer"},
        {"inlineData": {"mimeType": "image/png", "data": B64}},
    ]


def test_a_refused_picture_says_why(connected: Any) -> None:
    written = {"promptFeedback": {"blockReason": "PROHIBITED_CONTENT"}}
    here: Served = connected(lambda received: json_of(written), "gemini")

    got = httpx2.post(
        f"{here.url}/v1/images/generations",
        json={"model": "gemini/gemini-2.5-flash-image", "prompt": "x"},
    )

    assert got.status_code == 400
    assert "PROHIBITED_CONTENT" in got.json()["error"]["message"]


def test_an_edit_in_a_form_becomes_json(connected: Any) -> None:
    here: Served = connected(lambda received: json_of({"data": [{"url": PAGE}]}), "xai")

    client_of(here).images.edit(
        model="xai/grok-imagine-image", prompt="bluer", image=("a.png", PNG, "image/png"), n=2
    )

    [received] = here.vendors["vendor"].received
    assert received.target == "/v1/images/edits"
    assert received.json() == {
        "model": "grok-imagine-image",
        "prompt": "bluer",
        "n": 2,
        "image": {"url": f"data:image/png;base64,{B64}"},
    }


@pytest.mark.parametrize(
    ("named", "sent"),
    [
        ({"image": {"file_id": "f"}}, {"image": {"file_id": "f"}}),
        ({"image": PAGE}, {"image": {"url": PAGE}}),
        ({"images": [{"url": PAGE}] * 2}, {"images": [{"url": PAGE}] * 2}),
        ({"images": [{"url": PAGE}] * 6}, None),
    ],
)
def test_an_edit_in_json_names_its_pictures(connected: Any, named: Any, sent: Any) -> None:
    here: Served = connected(lambda received: json_of({"data": [{"url": PAGE}]}), "xai")
    members = {"model": "xai/grok-imagine-image", "prompt": "bluer", **named}

    got = httpx2.post(f"{here.url}/v1/images/edits", json=members)

    if sent is None:
        assert (got.status_code, here.vendors["vendor"].received) == (400, [])
        return
    [received] = here.vendors["vendor"].received
    assert received.json() == {"model": "grok-imagine-image", "prompt": "bluer", **sent}


def test_a_picture_of_a_size_that_is_not_made_is_refused(connected: Any) -> None:
    here: Served = connected(lambda received: json_of({}), "minimax")

    got = httpx2.post(
        f"{here.url}/v1/images/generations",
        json={"model": "minimax/image-01", "prompt": "x", "size": "1000x300"},
    )

    assert (got.status_code, got.json()["error"]["param"]) == (400, "size")


@pytest.mark.parametrize(("code", "status"), [(1008, 402), (1002, 429), (1004, 401), (1000, 502)])
def test_a_failure_with_status_200_is_a_failure(connected: Any, code: int, status: int) -> None:
    written = {"base_resp": {"status_code": code, "status_msg": "no luck"}}
    here: Served = connected(lambda received: json_of(written), "minimax")

    got = httpx2.post(
        f"{here.url}/v1/images/generations", json={"model": "minimax/image-01", "prompt": "x"}
    )

    assert got.status_code == status
    assert "no luck" in got.json()["error"]["message"]


DONE = recorded("video", "xai", "GET")
POLLS = [
    (
        "together",
        "job-1",
        {
            "/v2/videos/job-1": {
                "id": "job-1",
                "model": "m",
                "status": "completed",
                "seconds": "5",
                "outputs": {"cost": 0.5, "video_url": PAGE},
            }
        },
        {
            "request_id": "job-1",
            "status": "done",
            "model": "m",
            "video": {"url": PAGE, "duration": "5"},
            "usage": {"cost": 0.5},
        },
    ),
    (
        "together",
        "job-1",
        {
            "/v2/videos/job-1": {
                "id": "job-1",
                "status": "failed",
                "error": {"message": "No", "code": "x"},
            }
        },
        {"request_id": "job-1", "status": "failed", "error": {"message": "No", "code": "x"}},
    ),
    (
        "minimax",
        "job-1",
        {"/v2/query/video_generation/job-1": {"task_id": "job-1", "status": "running"}},
        {"request_id": "job-1", "status": "processing"},
    ),
    (
        "minimax",
        "job-1",
        {
            "/v2/query/video_generation/job-1": {
                "status": "succeeded",
                "content": {"url": PAGE},
                "duration": 6,
                "resolution": "2K",
                "ratio": "16:9",
            }
        },
        {
            "request_id": "job-1",
            "status": "done",
            "video": {"url": PAGE, "duration": 6, "resolution": "2K", "aspect_ratio": "16:9"},
        },
    ),
    (
        "minimax",
        "hailuo-77",
        {
            "/v1/query/video_generation?task_id=77": {"status": "Success", "file_id": "9"},
            "/v1/files/retrieve?file_id=9": {"file": {"download_url": PAGE}},
        },
        {"request_id": "hailuo-77", "status": "done", "video": {"url": PAGE}},
    ),
    (
        "minimax",
        "hailuo-77",
        {"/v1/query/video_generation?task_id=77": {"status": "Queueing"}},
        {"request_id": "hailuo-77", "status": "pending"},
    ),
    (
        "xai",
        "c84748c1",
        {"/v1/videos/c84748c1": msgspec.json.decode(answer(DONE))},
        msgspec.json.decode(answer(DONE)),
    ),
]


@pytest.mark.parametrize(("provider", "id", "says", "shown"), POLLS)
def test_a_job_is_asked_for(
    connected: Any, provider: str, id: str, says: dict[str, Any], shown: Any
) -> None:
    here: Served = connected(lambda received: json_of(says[received.target]), provider)

    got = httpx2.get(f"{here.url}/v1/videos/{id}")

    assert got.json() == shown
    assert [each.target for each in here.vendors["vendor"].received] == list(says)
    assert all(each.method == "GET" for each in here.vendors["vendor"].received)


@pytest.mark.parametrize(
    ("members", "param"),
    [
        ({"prompt": "x" * 7001}, "prompt"),
        ({"resolution": "480P"}, "resolution"),
        ({"duration": 3}, "duration"),
        ({"duration": 16}, "duration"),
        ({"ratio": "5:4"}, "ratio"),
    ],
)
def test_a_video_that_the_vendor_does_not_make_is_refused(
    connected: Any, members: Any, param: str
) -> None:
    here: Served = connected(lambda received: json_of({"task_id": "1"}), "minimax")

    got = httpx2.post(
        f"{here.url}/v1/videos/generations",
        json={"model": "minimax/MiniMax-H3", "prompt": "x", **members},
    )

    assert (got.status_code, got.json()["error"]["param"]) == (400, param)
    assert not here.vendors["vendor"].received


@pytest.mark.parametrize("streams", [False, True])
def test_an_mcp_server_is_searched(connected: Any, streams: bool) -> None:
    rows = [{"title": "Reef", "link": PAGE, "content": "All", "publish_date": "2026-01-02"}]

    def say(received: ReceivedRequest) -> MockResponse:
        message = received.json()
        match message["method"]:
            case "initialize":
                result: Any = {"protocolVersion": "2025-06-18", "capabilities": {}}
            case "tools/call":
                result = {"content": [{"type": "text", "text": msgspec.json.encode(rows).decode()}]}
            case _:
                return MockResponse(status=202)
        body = msgspec.json.encode({"jsonrpc": "2.0", "id": message["id"], "result": result})
        headers = {"mcp-session-id": "s-1"}
        if streams:
            body = b"event: message\ndata: " + body + b"\n\n"
            return MockResponse((body,), content_type="text/event-stream", headers=headers)
        return MockResponse((body,), headers=headers)

    here: Served = connected(say, "glm")

    got = httpx2.post(
        f"{here.url}/v1/search",
        json={"model": "glm/search", "query": "reefs", "time_range": "week", "country": "de"},
    )

    assert got.status_code == 200, got.text
    [row] = got.json()["results"]
    assert (row["title"], row["url"], row["snippet"]) == ("Reef", PAGE, "All")
    assert got.headers["x-gateway-dropped"] == "country"
    received = here.vendors["vendor"].received
    assert [each.json()["method"] for each in received] == [
        "initialize",
        "notifications/initialized",
        "tools/call",
    ]
    assert {each.target for each in received} == {"/api/mcp/web_search_prime/mcp"}
    assert [each.headers.get("mcp-session-id") for each in received] == [None, "s-1", "s-1"]
    assert received[2].json()["params"] == {
        "name": "webSearchPrime",
        "arguments": {"search_query": "reefs", "count": 5, "search_recency_filter": "oneWeek"},
    }
    assert here.rows()[0].units == {"queries": 1}


@pytest.mark.parametrize(
    "written",
    [
        {"jsonrpc": "2.0", "id": 1, "error": {"code": -1, "message": "No such tool"}},
        {"jsonrpc": "2.0", "id": 1, "result": {"isError": True, "content": [{"text": "No luck"}]}},
        {"jsonrpc": "2.0", "id": 1, "result": {"content": 7}},
        [],
    ],
)
def test_an_mcp_servers_failure_is_a_failure(connected: Any, written: Any) -> None:
    here: Served = connected(lambda received: json_of(written), "glm")

    got = httpx2.post(f"{here.url}/v1/search", json={"model": "glm/search", "query": "reefs"})

    assert got.status_code == 502


def test_the_vendors_search_tool_is_handed_its_own_words_back(connected: Any) -> None:
    call = {
        "id": "t-1",
        "type": "builtin_function",
        "function": {"name": "$web_search", "arguments": '{"search_result":{"search_id":"1"}}'},
    }
    calling = {"role": "assistant", "content": "", "tool_calls": [call]}
    telling = {"role": "assistant", "content": f"- [Reef]({PAGE}) is a reef.\n- {PAGE}/2."}

    def say(received: ReceivedRequest) -> MockResponse:
        message = calling if len(received.json()["messages"]) == 1 else telling
        usage = {"prompt_tokens": 10, "completion_tokens": 20}
        return json_of({"choices": [{"message": message}], "usage": usage})

    here: Served = connected(say, "moonshot")

    got = httpx2.post(f"{here.url}/v1/search", json={"model": "kimi", "query": "reefs"})

    shown = got.json()
    assert [row["url"] for row in shown["results"]] == [PAGE, f"{PAGE}/2"]
    assert shown["results"][0]["snippet"] == "Reef is a reef."
    assert shown["answer"] == {"text": telling["content"]}
    first, second = here.vendors["vendor"].received
    assert first.json()["tools"] == [
        {"type": "builtin_function", "function": {"name": "$web_search"}}
    ]
    assert second.json()["messages"][1:] == [
        calling,
        {
            "role": "tool",
            "tool_call_id": "t-1",
            "name": "$web_search",
            "content": '{"search_result":{"search_id":"1"}}',
        },
    ]
