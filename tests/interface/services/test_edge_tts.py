"""Speech by a vendor that speaks over WebSockets, one for each piece of a text. No recording of it
exists, so the vendor here says what the library edge-tts reads."""

import threading
from collections.abc import Iterator
from typing import Any
from urllib.parse import parse_qs, urlsplit

import httpx2
import msgspec
import openai
import pytest
from served_gateway import Served, serve_gateway
from vendor_sockets import VendorSockets
from websockets.http11 import Request, Response
from websockets.sync.server import ServerConnection

from gateway_core.storage.stores.connection import NewConnection

PATH = "/consumer/speech/synthesize/readaloud"
VOICES = [
    {"ShortName": "en-US-AvaNeural", "FriendlyName": "Ava", "Locale": "en-US", "Gender": "Female"},
    {"ShortName": "de-DE-KillianNeural", "Locale": "de-DE", "Gender": "Male"},
]
SOUND = (b"\xff\xf3\x64\xc4" + bytes(140), b"\xff\xf3\x64\xc4" + bytes(range(140)))


def text(path: str) -> str:
    return f"X-RequestId:1\r\nContent-Type:application/json\r\nPath:{path}\r\n\r\n{{}}"


def sound(data: bytes, kind: bytes = b"Content-Type:audio/mpeg\r\n") -> bytes:
    headers = b"X-RequestId:1\r\n%bPath:audio\r\n" % kind
    return len(headers).to_bytes(2, "big") + headers + data


def speak(connection: ServerConnection) -> None:
    connection.recv()
    connection.recv()
    connection.send(text("turn.start"))
    connection.send(text("response"))
    for data in SOUND:
        connection.send(sound(data))
    connection.send(text("audio.metadata"))
    connection.send(sound(b"", b""))
    connection.send(text("turn.end"))


class Edge(VendorSockets):
    """Lists voices too."""

    def _refuse(self, connection: ServerConnection, request: Request) -> Response | None:
        refusal = super()._refuse(connection, request)
        if "/voices/list?" in request.path and refusal is None:
            return connection.respond(200, msgspec.json.encode(VOICES).decode())  # type: ignore[arg-type]
        return refusal


@pytest.fixture(scope="module")
def vendor() -> Iterator[Edge]:
    vendor = Edge(speak)
    vendor.open()
    yield vendor
    vendor.close()


@pytest.fixture(scope="module")
def gateway(vendor: Edge, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Served]:
    with serve_gateway(tmp_path_factory.mktemp("data"), {}) as here:

        async def connect() -> None:
            core = here.gateway.core
            own = {"baseUrl": f"{vendor.base_url}{PATH}"}
            data = {"providerSpecificData": own}
            new = NewConnection(provider="edge-tts", name="local", data=data)
            await core.stores.connections.create(new)
            await core.stores.settings.patch({"requireLogin": False})
            await core.refresh()

        here.do(connect())
        yield here


@pytest.fixture
def here(gateway: Served, vendor: Edge) -> Served:
    vendor.dialogue, vendor.refusal = speak, None
    vendor.heard.clear()
    vendor.requests.clear()
    cooldowns = gateway.gateway.core.cooldowns
    for account, model, _ in cooldowns.all_active():
        cooldowns.clear([account], model)
    return gateway


@pytest.fixture
def client(here: Served) -> Iterator[openai.OpenAI]:
    with openai.OpenAI(base_url=f"{here.url}/v1", api_key="none", max_retries=0) as client:
        yield client


def test_a_text_is_spoken(here: Served, client: openai.OpenAI, vendor: Edge) -> None:
    spoken = client.audio.speech.create(
        model="edge-tts/de-DE-KillianNeural", voice="", input="Äpfel & Birnen <laut>", speed=1.25
    )

    assert spoken.content == b"".join(SOUND)
    assert spoken.response.headers["content-type"] == "audio/mpeg"
    settings, question = map(str, vendor.heard)
    assert "Path:speech.config" in settings
    assert '"outputFormat":"audio-24khz-48kbitrate-mono-mp3"' in settings
    assert "Path:ssml" in question
    assert (
        "<voice name='Microsoft Server Speech Text to Speech Voice (de-DE, KillianNeural)'>"
        "<prosody pitch='+0Hz' rate='+25%' volume='+0%'>Äpfel &amp; Birnen &lt;laut&gt;</prosody>"
    ) in question
    [request] = vendor.requests
    assert urlsplit(request.path).path == f"{PATH}/edge/v1"
    query = parse_qs(urlsplit(request.path).query)
    assert set(query) == {
        *("TrustedClientToken", "ConnectionId"),
        *("Sec-MS-GEC", "Sec-MS-GEC-Version"),
    }
    assert request.headers["origin"].startswith("chrome-extension://")
    row = here.rows()[0]
    assert (row.status, row.units) == ("ok", {"characters": 21})


def test_a_long_text_is_spoken_piece_by_piece(
    here: Served, client: openai.OpenAI, vendor: Edge
) -> None:
    words = "Wörter " * 1000

    spoken = client.audio.speech.create(model="edge-tts/edge-tts", voice="", input=words)

    assert spoken.content == b"".join(SOUND) * 2
    assert len(vendor.requests) == 2
    said = [str(each) for each in vendor.heard if "Path:ssml" in str(each)]
    assert sum(each.count("Wörter") for each in said) == 1000


def test_sound_is_sent_on_as_it_comes(here: Served, client: openai.OpenAI, vendor: Edge) -> None:
    is_heard = threading.Event()

    def wait(connection: ServerConnection) -> None:
        connection.recv()
        connection.recv()
        connection.send(sound(SOUND[0]))
        assert is_heard.wait(10)
        connection.send(sound(SOUND[1]))
        connection.send(text("turn.end"))

    vendor.dialogue = wait
    heard = bytearray()
    with client.audio.speech.with_streaming_response.create(
        model="edge-tts/edge-tts", voice="", input="Hello"
    ) as spoken:
        for data in spoken.iter_bytes(16):
            heard += data
            is_heard.set()

    assert heard == b"".join(SOUND)


def test_a_client_that_leaves_closes_the_socket(
    here: Served, client: openai.OpenAI, vendor: Edge
) -> None:
    def go_on(connection: ServerConnection) -> None:
        while True:
            connection.send(sound(bytes(4096)))

    vendor.dialogue = go_on
    body = {"model": "edge-tts/edge-tts", "input": "Hello"}
    while vendor.gone.acquire(blocking=False):
        pass
    with httpx2.stream("POST", f"{here.url}/v1/audio/speech", json=body) as answer:
        next(answer.iter_bytes())

    assert vendor.gone.acquire(timeout=10)


def broken(message: str | bytes | None) -> Any:
    def dialogue(connection: ServerConnection) -> None:
        connection.recv()
        connection.recv()
        if message is not None:
            connection.send(message)
        connection.close(1011, "out of order")

    return dialogue


@pytest.mark.parametrize(
    ("message", "shown"),
    [
        pytest.param(None, "closed the socket with 1011: out of order", id="closed"),
        pytest.param(text("turn.end"), "sent no sound", id="silent"),
        pytest.param("no headers", "cannot be read", id="text"),
        pytest.param(b"\x00\x04junk", "cannot be read", id="bytes"),
    ],
)
def test_what_is_no_speech_is_an_error(
    here: Served, client: openai.OpenAI, vendor: Edge, message: str | bytes | None, shown: str
) -> None:
    vendor.dialogue = broken(message)

    with pytest.raises(openai.APIStatusError) as error:
        client.audio.speech.create(model="edge-tts/edge-tts", voice="", input="Hello")

    assert error.value.status_code == 502
    assert shown in error.value.message


def test_a_refused_handshake_is_the_vendors_error(
    here: Served, client: openai.OpenAI, vendor: Edge
) -> None:
    vendor.refusal = 403

    with pytest.raises(openai.PermissionDeniedError, match="refused"):
        client.audio.speech.create(model="edge-tts/edge-tts", voice="", input="Hello")


@pytest.mark.parametrize("voice", ["alloy", "en-US-'/><break/>Neural", "en-US-Ava"])
def test_only_a_voice_is_put_into_the_document(
    here: Served, client: openai.OpenAI, vendor: Edge, voice: str
) -> None:
    with pytest.raises(openai.BadRequestError, match="There is no voice"):
        client.audio.speech.create(model="edge-tts/edge-tts", voice=voice, input="Hello")

    assert vendor.requests == []


def test_voices_are_listed(here: Served, client: openai.OpenAI, vendor: Edge) -> None:
    rows = httpx2.get(f"{here.url}/v1/audio/voices?provider=edge-tts&lang=de").json()["data"]

    assert rows == [
        {
            "id": "de-DE-KillianNeural",
            "name": "de-DE-KillianNeural",
            "lang": "de-DE",
            "gender": "male",
            "model": "edge-tts/de-DE-KillianNeural",
        }
    ]
    [request] = vendor.requests
    assert "trustedclienttoken" in parse_qs(urlsplit(request.path).query)
