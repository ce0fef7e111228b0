"""Forms, bytes and events: clients that others wrote, over a socket."""

import base64
import os
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import httpx2
import openai
import pytest
from corpus import answer, items
from fake_vendor import MockResponse, ReceivedRequest
from python_multipart.multipart import parse_options_header
from served_gateway import Served

MIB = 1024 * 1024
PNG = b"\x89PNG\r\n\x1a\n" + bytes(64)
SPOKEN = next(i for i in items("speech") if i["vendor"] == "openai")
TRANSCRIBED = next(i for i in items("transcription") if i["vendor"] == "openai" and not i["stream"])
EVENTS = (
    b'event: speech.audio.delta\ndata: {"type":"speech.audio.delta","audio":"AAAA"}\n\n',
    b'event: speech.audio.done\ndata: {"type":"speech.audio.done","usage":{"input_tokens":3,'
    b'"output_tokens":9,"total_tokens":12}}\n\n',
)
PARTIAL = (
    b'event: image_generation.partial_image\ndata: {"type":"image_generation.partial_image",'
    b'"b64_json":"AAAA","partial_image_index":0}\n\n',
)
DONE = (
    b'event: image_generation.completed\ndata: {"type":"image_generation.completed",'
    b'"b64_json":"AAAA","usage":{"input_tokens":5,"output_tokens":70,"total_tokens":75}}\n\n',
)
PAINTED = b'{"created":1,"data":[{"b64_json":"%b"}]}' % base64.b64encode(PNG)


def say(received: ReceivedRequest) -> MockResponse:
    match received.path.removeprefix("/v1"):
        case "/audio/speech" if b'"sse"' in received.body:
            return MockResponse.stream(*EVENTS)
        case "/audio/speech":
            body = answer(SPOKEN)
            middle = len(body) // 2
            return MockResponse.stream(body[:middle], body[middle:], content_type="audio/mpeg")
        case "/audio/transcriptions" | "/audio/translations":
            return MockResponse((answer(TRANSCRIBED),))
        case "/images/generations" if b"gpt-image-2" in received.body:
            cut = b"gpt-image-2-cut" in received.body
            return MockResponse.stream(*PARTIAL, *(() if cut else DONE), cut=cut)
        case "/images/generations" | "/images/edits":
            return MockResponse((PAINTED,))
    return MockResponse(status=404)


@pytest.fixture
def here(connected: Any) -> Served:
    served: Served = connected(say)
    return served


@pytest.fixture
def client(here: Served) -> Iterator[openai.OpenAI]:
    with openai.OpenAI(base_url=f"{here.url}/v1", api_key="none", max_retries=0) as made:
        yield made


def form_of(received: ReceivedRequest) -> dict[str, bytes]:
    """The parts of a form as a plain reader finds them."""
    boundary = parse_options_header(received.headers["content-type"])[1][b"boundary"]
    parts = {}
    for part in received.body.split(b"--" + boundary)[1:-1]:
        head, _, content = part.partition(b"\r\n\r\n")
        line = next(each for each in head.split(b"\r\n") if each)
        parts[parse_options_header(line.partition(b": ")[2])[1][b"name"].decode()] = content[:-2]
    return parts


def leftovers(here: Served) -> list[Path]:
    folder = here.gateway.core.data_dir.path / "tmp"
    return list(folder.iterdir()) if folder.exists() else []


def test_speech_is_sent_on_as_bytes_with_the_vendors_type(
    here: Served, client: openai.OpenAI
) -> None:
    spoken = client.audio.speech.create(model="openai/tts-1", input="Hello", voice="alloy")

    row = here.rows()[0]
    assert spoken.content == answer(SPOKEN)
    assert spoken.response.headers["content-type"] == "audio/mpeg"
    assert row.units == {"characters": 5}
    assert (row.status, row.stream) == ("ok", False)


def test_speech_may_be_had_as_json(here: Served, http: httpx2.Client) -> None:
    body = {"model": "openai/tts-1", "input": "Hello", "voice": "alloy"}

    found = http.post(f"{here.url}/v1/audio/speech?response_format=json", json=body)

    assert found.json()["format"] == "mp3"
    assert base64.b64decode(found.json()["audio"]) == answer(SPOKEN)


def test_speech_may_be_had_as_events(here: Served, client: openai.OpenAI) -> None:
    with client.audio.speech.with_streaming_response.create(
        model="openai/gpt-4o-mini-tts", input="Hello", voice="alloy", stream_format="sse"
    ) as response:
        found = b"".join(response.iter_bytes())
        media_type = response.headers["content-type"]

    row = here.rows()[0]
    assert found == b"".join(EVENTS)
    assert media_type.startswith("text/event-stream")
    assert (row.input_tokens, row.output_tokens, row.stream) == (3, 9, True)


@pytest.mark.parametrize("size", [1000, 3 * MIB], ids=["small", "spooled"])
def test_a_transcription_is_passed_on_with_the_model_alone_replaced(
    here: Served, client: openai.OpenAI, size: int
) -> None:
    audio = os.urandom(size)

    found = client.audio.transcriptions.create(
        model="openai/whisper-1", file=("a.mp3", audio), language="de", temperature=0.5
    )

    sent = here.vendors["vendor"].received[-1]
    assert found.text
    assert form_of(sent) == {
        "model": b"whisper-1",
        "file": audio,
        "language": b"de",
        "temperature": b"0.5",
    }
    assert leftovers(here) == []


def test_a_translation_is_an_endpoint_of_its_own(here: Served, http: httpx2.Client) -> None:
    form = {"model": (None, "openai/whisper-1"), "file": ("a.mp3", b"abc")}

    http.post(f"{here.url}/v1/audio/translations", files=form)

    assert here.vendors["vendor"].received[-1].path == "/v1/audio/translations"


def test_a_form_without_its_file_is_refused(here: Served, http: httpx2.Client) -> None:
    form = {"model": (None, "openai/whisper-1")}

    found = http.post(f"{here.url}/v1/audio/transcriptions", files=form)

    assert found.status_code == 400
    assert found.json()["error"]["message"] == "Missing required field: file"


def test_a_form_without_a_model_takes_the_media_route(here: Served, http: httpx2.Client) -> None:
    found = http.post(f"{here.url}/v1/audio/transcriptions", files={"file": ("a", b"abc")})

    assert found.status_code == 200
    assert form_of(here.vendors["vendor"].received[-1])["model"] == b"whisper-1"


def test_images_are_edited_by_a_form_or_by_json(
    here: Served, client: openai.OpenAI, http: httpx2.Client
) -> None:
    edited = client.images.edit(model="openai/gpt-image-1", image=("a.png", PNG), prompt="red")
    body = {"model": "openai/gpt-image-1", "prompt": "red", "images": [{"image_url": "data:,"}]}
    again = http.post(f"{here.url}/v1/images/edits", json=body)

    received = here.vendors["vendor"].received
    assert edited.data is not None
    assert form_of(received[-2])["image"] == PNG
    assert received[-1].json() == {**body, "model": "gpt-image-1"}
    assert again.content == PAINTED


def test_an_image_edit_needs_a_model(here: Served, http: httpx2.Client) -> None:
    found = http.post(f"{here.url}/v1/images/edits", json={"prompt": "red"})

    assert found.status_code == 400
    assert found.json()["error"]["message"] == "Missing model"


def test_a_picture_may_be_had_as_bytes(here: Served, http: httpx2.Client) -> None:
    body = {"model": "openai/gpt-image-1", "prompt": "a cat"}

    found = http.post(f"{here.url}/v1/images/generations?response_format=binary", json=body)

    assert found.content == PNG
    assert found.headers["content-type"] == "image/png"


def test_a_vendor_that_answers_whole_still_gives_events(
    here: Served, client: openai.OpenAI
) -> None:
    events = client.images.generate(model="openai/gpt-image-1", prompt="a cat", stream=True)

    kinds = [(event.type, event.b64_json) for event in events]  # type: ignore[union-attr]
    assert kinds == [("image_generation.completed", base64.b64encode(PNG).decode())]


def test_a_vendors_partial_pictures_are_passed_on(here: Served, client: openai.OpenAI) -> None:
    events = client.images.generate(
        model="openai/gpt-image-2", prompt="a cat", stream=True, partial_images=1
    )

    kinds = [event.type for event in events]  # type: ignore[union-attr]
    row = here.rows()[0]
    assert kinds == ["image_generation.partial_image", "image_generation.completed"]
    assert (row.input_tokens, row.output_tokens, row.stream) == (5, 70, True)


def test_events_that_break_off_end_with_an_error(here: Served, http: httpx2.Client) -> None:
    body = {"model": "openai/gpt-image-2-cut", "prompt": "a cat", "stream": True}

    found = http.post(f"{here.url}/v1/images/generations", json=body)

    assert found.content.startswith(PARTIAL[0] + b'event: error\ndata: {"error":{"message":')
    assert found.content.endswith(b"\n\n")
    assert here.rows()[0].status == "upstream_cut"


@pytest.mark.parametrize(
    ("body", "status"),
    [
        (b"", 400),
        (b"--b\r\n", 400),
        (b"x" * 5000 + b"\r\n--b\r\n", 400),
        (b"--b\r\ncontent-disposition: form-data\r\n\r\nx\r\n--b--\r\n", 400),
        (b'--b\r\ncontent-disposition: form-data; name="a"\r\n\r\n' * 70, 400),
        (b"--b\r\nx: " + b"y" * 9000 + b"\r\n\r\n\r\n--b--\r\n", 400),
        (
            b'--b\r\ncontent-disposition: form-data; name="prompt"\r\n\r\n'
            + b"x" * (MIB + 1)
            + b"\r\n--b--\r\n",
            413,
        ),
    ],
    ids=["empty", "no end", "preamble", "no name", "parts", "header", "long field"],
)
def test_a_form_that_makes_no_sense_is_refused(
    here: Served, http: httpx2.Client, body: bytes, status: int
) -> None:
    before = len(here.vendors["vendor"].received)
    headers = {"content-type": "multipart/form-data; boundary=b"}

    found = http.post(f"{here.url}/v1/audio/transcriptions", content=body, headers=headers)

    assert found.status_code == status
    assert len(here.vendors["vendor"].received) == before
    assert leftovers(here) == []


def test_json_in_the_place_of_a_form_is_another_media_type(
    here: Served, http: httpx2.Client
) -> None:
    found = http.post(f"{here.url}/v1/audio/transcriptions", json={"model": "openai/whisper-1"})

    assert found.status_code == 415


def test_a_model_that_is_named_twice_is_refused(here: Served, http: httpx2.Client) -> None:
    form = [
        ("model", (None, "openai/whisper-1")),
        ("Model", (None, "openai/gpt-4o-transcribe")),
        ("file", ("a", b"abc")),
    ]

    found = http.post(f"{here.url}/v1/audio/transcriptions", files=form)

    assert found.status_code == 400
