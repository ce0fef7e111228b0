"""Vendors of speech, voices, transcription and music: what each is asked, what its client gets, and
what the ledger counts. Answers are recorded ones where there are any, else as documented."""

import base64
from collections.abc import Mapping
from typing import Any
from urllib.parse import parse_qsl, urlsplit

import httpx2
import msgspec
import openai
import pytest
from corpus import answer, items
from fake_vendor import MockResponse, ReceivedRequest
from gateway_provider_assemblyai import TRANSCRIPTION
from msgspec import Struct
from msgspec.structs import replace
from python_multipart.multipart import parse_options_header
from served_gateway import Served

from gateway_core import Kind, Model, ProviderSpec, Service

KEY = "sk-vendor-0123456789"
BEARER = {"authorization": f"Bearer {KEY}"}
KEYLESS = {"authorization": None}
"""A vendor that takes no key is not shown one that its account has by mistake."""
MICRO = 1_000_000
"""Of the ledger's units of money to a dollar."""
TEXT = "Hello reefs"
SOUND = b"RIFF\x04\x00\x00\x00WAVEdata"
MP3 = b"\xff\xfb\x90\x64" + bytes(60)


def recorded(kind: str, vendor: str, path: str = "") -> bytes:
    """The first recorded answer of a vendor."""
    found = (i for i in items(kind) if i["vendor"] == vendor and path in i["endpoint"])
    return answer(next(found))


def as_json(**members: Any) -> MockResponse:
    return MockResponse((msgspec.json.encode(members),))


def as_sound(data: bytes = MP3, kind: str = "audio/mpeg") -> MockResponse:
    return MockResponse.stream(data[:7], data[7:], content_type=kind)


class Spoken(Struct, frozen=True, kw_only=True):
    """One speech request of a client's."""

    model: str
    target: str
    sent: Mapping[str, Any]
    headers: Mapping[str, str | None] = msgspec.field(default_factory=lambda: BEARER)
    members: Mapping[str, Any] = {}
    written: MockResponse = msgspec.field(default_factory=as_sound)
    lost: str = ""
    got: bytes = MP3
    media_type: str = "audio/mpeg"
    units: float = len(TEXT)
    cost: float = 0.0
    key: str = KEY


ELEVENLABS_MP3 = recorded("speech", "elevenlabs")
DEEPGRAM_MP3 = recorded("speech", "deepgram")
SPEECHES = [
    Spoken(
        model="elevenlabs/eleven_v3/VOICE",
        target="/v1/text-to-speech/VOICE?output_format=opus_48000_128",
        headers={"xi-api-key": KEY},
        members={"speed": 1.1, "response_format": "opus", "instructions": "softly"},
        sent={"text": TEXT, "model_id": "eleven_v3", "voice_settings": {"speed": 1.1}},
        written=as_sound(ELEVENLABS_MP3),
        got=ELEVENLABS_MP3,
        lost="instructions",
    ),
    Spoken(
        model="el/VOICE",
        target="/v1/text-to-speech/VOICE?output_format=mp3_44100_128",
        headers={"xi-api-key": KEY},
        members={"response_format": "aac", "voice": "alloy", "language": "de"},
        sent={"text": TEXT, "model_id": "eleven_v3", "language_code": "de"},
        lost="voice, response_format",
    ),
    Spoken(
        model="deepgram/aura-2-thalia-en",
        target="/v1/speak?model=aura-2-thalia-en&encoding=mp3",
        headers={"authorization": f"Token {KEY}"},
        members={"voice": "alloy"},
        sent={"text": TEXT},
        written=as_sound(DEEPGRAM_MP3),
        got=DEEPGRAM_MP3,
        lost="voice",
        cost=len(TEXT) * 0.00003,
    ),
    Spoken(
        model="cartesia/sonic-3",
        target="/v1/tts/bytes",
        headers={"x-api-key": KEY, "cartesia-version": "2024-06-10"},
        members={"voice": "v-1", "response_format": "wav"},
        sent={
            "model_id": "sonic-3",
            "transcript": TEXT,
            "voice": {"mode": "id", "id": "v-1"},
            "output_format": {"container": "wav", "encoding": "pcm_s16le", "sample_rate": 44100},
        },
        written=as_sound(SOUND, "audio/wav"),
        got=SOUND,
        media_type="audio/wav",
    ),
    Spoken(
        model="inworld/inworld-tts-1.5-max",
        target="/v1/tts/v1/voice",
        headers={"authorization": f"Basic {KEY}"},
        members={"speed": 1.2},
        sent={
            "text": TEXT,
            "voiceId": "Alex",
            "modelId": "inworld-tts-1.5-max",
            "audioConfig": {"audioEncoding": "MP3", "speakingRate": 1.2},
        },
        written=as_json(audioContent=base64.b64encode(MP3).decode()),
        cost=len(TEXT) * 0.00001,
    ),
    Spoken(
        model="playht/PlayDialog",
        members={"voice": "s3://a/manifest.json"},
        target="/v1/tts/stream",
        headers={"authorization": "Bearer secret", "x-user-id": "me"},
        sent={
            "text": TEXT,
            "voice": "s3://a/manifest.json",
            "voice_engine": "PlayDialog",
            "output_format": "mp3",
        },
        key="me:secret",
    ),
    Spoken(
        model="fish-audio/s1",
        target="/v1/tts",
        headers={**BEARER, "model": "s1"},
        members={"voice": "7f92", "speed": 0.9},
        sent={"text": TEXT, "format": "mp3", "reference_id": "7f92", "prosody": {"speed": 0.9}},
    ),
    Spoken(
        model="hyperbolic/melo-tts",
        target="/v1/audio/generation",
        members={"voice": "EN-US", "language": "en"},
        sent={"text": TEXT, "speaker": "EN-US", "language": "EN"},
        written=as_json(audio=base64.b64encode(SOUND).decode()),
        got=SOUND,
        media_type="audio/wav",
        cost=len(TEXT) * 0.000005,
    ),
    Spoken(
        model="coqui/tts/p376",
        target="/v1/tts",
        headers={"content-type": "application/x-www-form-urlencoded", **KEYLESS},
        sent={"text": TEXT, "speaker_id": "p376"},
        written=as_sound(SOUND, "audio/wav"),
        got=SOUND,
        media_type="audio/wav",
    ),
    Spoken(
        model="tortoise/tortoise",
        target="/v1/tts",
        headers=KEYLESS,
        sent={"text": TEXT, "voice": "random"},
        written=as_sound(SOUND, "audio/wav"),
        got=SOUND,
        media_type="audio/wav",
    ),
    *(
        Spoken(
            model=f"{provider}/speech-2.8-hd",
            target="/v1/t2a_v2",
            members={"voice": "English_Upbeat_Woman", "language": "English"},
            sent={
                "model": "speech-2.8-hd",
                "text": TEXT,
                "stream": False,
                "output_format": "hex",
                "voice_setting": {"voice_id": "English_Upbeat_Woman"},
                "audio_setting": {"format": "mp3"},
                "language_boost": "English",
            },
            written=as_json(
                data={"audio": MP3.hex(), "status": 2},
                extra_info={"usage_characters": 26},
                base_resp={"status_code": 0, "status_msg": "success"},
            ),
            units=26,
            cost=26 * 0.0001,
        )
        for provider in ("minimax", "minimax-cn")
    ),
    Spoken(
        model="nvidia/fastpitch",
        target="/v1/audio/speech",
        members={"voice": "Aria"},
        sent={"input": {"text": TEXT}, "voice": "Aria", "model": "fastpitch"},
        written=as_sound(SOUND, "audio/wav"),
        got=SOUND,
        media_type="audio/wav",
    ),
    Spoken(
        model="hf/facebook/mms-tts-eng",
        target="/hf-inference/models/facebook/mms-tts-eng",
        sent={"inputs": TEXT},
        written=as_sound(SOUND, "audio/wav"),
        got=SOUND,
        media_type="audio/wav",
    ),
]
NAMES = {"el": "elevenlabs", "dg": "deepgram", "aai": "assemblyai", "hf": "huggingface"}


def provider_of(model: str) -> str:
    prefix = model.partition("/")[0]
    return NAMES.get(prefix, prefix)


def body_of(received: ReceivedRequest) -> dict[str, Any]:
    if received.headers["content-type"] == "application/x-www-form-urlencoded":
        return dict(parse_qsl(received.body.decode()))
    decoded: dict[str, Any] = msgspec.json.decode(received.body)
    return decoded


def form_of(received: ReceivedRequest) -> dict[str, bytes]:
    """The parts of a form as a plain reader finds them."""
    boundary = parse_options_header(received.headers["content-type"])[1][b"boundary"]
    parts = {}
    for part in received.body.split(b"--" + boundary)[1:-1]:
        head, _, content = part.partition(b"\r\n\r\n")
        line = next(each for each in head.split(b"\r\n") if each)
        parts[parse_options_header(line.partition(b": ")[2])[1][b"name"].decode()] = content[:-2]
    return parts


def carried(
    received: ReceivedRequest, headers: Mapping[str, str | None]
) -> Mapping[str, str | None]:
    return {name: received.headers.get(name) for name in headers}


@pytest.mark.parametrize("case", SPEECHES, ids=lambda case: case.model)
def test_a_vendor_speaks(connected: Any, case: Spoken) -> None:
    here: Served = connected(lambda received: case.written, provider_of(case.model), key=case.key)

    got = httpx2.post(
        f"{here.url}/v1/audio/speech",
        json={"model": case.model, "input": f" {TEXT} ", **case.members},
    )

    [received] = here.vendors["vendor"].received
    [row] = here.rows()
    assert (received.target, body_of(received)) == (case.target, case.sent)
    assert carried(received, case.headers) == case.headers
    assert (got.status_code, got.content) == (200, case.got)
    assert got.headers["content-type"] == case.media_type
    assert got.headers.get("x-gateway-dropped", "") == case.lost
    assert (row.status, row.units) == ("ok", {"characters": case.units})
    assert (row.cost or 0) == pytest.approx(case.cost * MICRO, abs=1)


def test_the_completions_client_hears_a_vendor_and_gets_base64_where_it_wants(
    connected: Any,
) -> None:
    here: Served = connected(lambda received: as_sound(ELEVENLABS_MP3), "elevenlabs")

    with openai.OpenAI(base_url=f"{here.url}/v1", api_key="none", max_retries=0) as client:
        spoken = client.audio.speech.create(model="el/eleven_v3", voice="VOICE", input=TEXT)
        wrapped = client.audio.speech.create(
            model="el/eleven_v3",
            voice={"id": "OWN"},
            input=TEXT,
            extra_query={"response_format": "json"},
        )

    first, second = here.vendors["vendor"].received
    assert spoken.content == ELEVENLABS_MP3
    assert first.path == "/v1/text-to-speech/VOICE"
    assert second.path == "/v1/text-to-speech/OWN"
    shown = msgspec.json.decode(wrapped.content)
    assert shown["format"] == "mp3"
    assert base64.b64decode(shown["audio"]) == ELEVENLABS_MP3


VOICES = [
    pytest.param(
        "elevenlabs",
        "GET /v1/voices",
        {
            "voices": [
                {"voice_id": "a", "name": "Ana", "labels": {"language": "de", "gender": "female"}},
                {"voice_id": "b", "name": "Bob", "labels": {"language": "en", "gender": "male"}},
                {"voice_id": "c", "name": "Own", "labels": {}},
            ]
        },
        {"id": "a", "name": "Ana", "lang": "de", "gender": "female", "model": "el/a"},
        id="elevenlabs",
    ),
    pytest.param(
        "deepgram",
        "GET /v1/models",
        {
            "stt": [{"canonical_name": "nova-3"}],
            "tts": [
                {
                    "name": "viktoria",
                    "canonical_name": "aura-2-viktoria-de",
                    "languages": ["de", "de-DE"],
                    "metadata": {"accent": "German", "tags": ["feminine", "warm"]},
                },
                {"name": "angus", "canonical_name": "aura-angus-en", "languages": ["en", "en-IE"]},
            ],
        },
        {
            "id": "aura-2-viktoria-de",
            "name": "viktoria",
            "lang": "de-DE",
            "gender": "female",
            "model": "dg/aura-2-viktoria-de",
        },
        id="deepgram",
    ),
    pytest.param(
        "inworld",
        "GET /v1/voices/v1/voices",
        {
            "voices": [
                {
                    "voiceId": "Josef",
                    "displayName": "Josef",
                    "langCode": "DE_DE",
                    "tags": ["male", "calm"],
                },
                {"voiceId": "Alex", "displayName": "Alex", "langCode": "EN_US", "tags": []},
            ]
        },
        {
            "id": "Josef",
            "name": "Josef",
            "lang": "de-DE",
            "gender": "male",
            "model": "inworld/Josef",
        },
        id="inworld",
    ),
    *(
        pytest.param(
            provider,
            "POST /v1/get_voice",
            {
                "system_voice": [
                    {
                        "voice_id": "German_SweetLady",
                        "voice_name": "Sweet Lady (Female)",
                        "description": [],
                    },
                    {"voice_id": "English_CalmWoman", "voice_name": "Calm", "description": []},
                ],
                "voice_cloning": [{"voice_id": "own1", "description": []}],
                "base_resp": {"status_code": 0, "status_msg": "success"},
            },
            {
                "id": "German_SweetLady",
                "name": "Sweet Lady (Female)",
                "lang": "de",
                "gender": "female",
                "model": f"{provider}/German_SweetLady",
            },
            id=provider,
        )
        for provider in ("minimax", "minimax-cn")
    ),
]


@pytest.mark.parametrize(("provider", "line", "listed", "row"), VOICES)
def test_voices_are_listed_for_a_language(
    connected: Any, provider: str, line: str, listed: Any, row: Any
) -> None:
    here: Served = connected(lambda received: as_json(**listed), provider)
    address = f"{here.url}/v1/audio/voices?provider={provider}"

    german, every = httpx2.get(f"{address}&lang=de"), httpx2.get(address)

    received = here.vendors["vendor"].received[0]
    assert f"{received.method} {received.path}" == line
    assert received.method == "GET" or received.json() == {"voice_type": "all"}
    assert german.json() == {"object": "list", "data": [row]}
    assert len(every.json()["data"]) >= 2


def test_a_listed_voice_speaks(connected: Any) -> None:
    def say(received: ReceivedRequest) -> MockResponse:
        if received.path == "/v1/get_voice":
            return as_json(system_voice=[{"voice_id": "Chinese (Mandarin)_Lady"}])
        return as_json(data={"audio": MP3.hex()}, base_resp={"status_code": 0})

    here: Served = connected(say, "minimax")
    [row] = httpx2.get(f"{here.url}/v1/audio/voices?provider=minimax").json()["data"]

    got = httpx2.post(f"{here.url}/v1/audio/speech", json={"model": row["model"], "input": TEXT})

    assert (row["lang"], got.status_code, got.content) == ("zh", 200, MP3)
    sent = here.vendors["vendor"].received[-1].json()
    assert sent["model"] == "speech-2.8-hd"
    assert sent["voice_setting"] == {"voice_id": "Chinese (Mandarin)_Lady"}


class Heard(Struct, frozen=True, kw_only=True):
    """One transcription of a client's."""

    model: str
    target: str
    text: str
    written: MockResponse
    headers: Mapping[str, str | None] = msgspec.field(default_factory=lambda: BEARER)
    form: Mapping[str, bytes] | None = None
    """``None`` where the file is sent as it is."""
    lost: str = ""
    seconds: float | None = None
    cost: float = 0.0


TRANSCRIPTIONS = [
    Heard(
        model="elevenlabs/scribe_v2",
        target="/v1/speech-to-text",
        headers={"xi-api-key": KEY},
        form={"model_id": b"scribe_v2", "language_code": b"en", "temperature": b"0.5"},
        written=MockResponse((recorded("transcription", "elevenlabs"),)),
        text="Hello from the Vercel AI SDK.",
        lost="prompt",
        seconds=2.479,
    ),
    Heard(
        model="dg/nova-3",
        target="/v1/listen?model=nova-3&smart_format=true&punctuate=true&language=en",
        headers={"authorization": f"Token {KEY}", "content-type": "audio/wav"},
        written=MockResponse((recorded("transcription", "deepgram", "nova-3-general"),)),
        text="Ruby is a programming language designed for developer happiness.",
        lost="prompt, temperature",
        seconds=3.6999376,
        cost=3.6999376 * 0.0043 / 60,
    ),
    Heard(
        model="cartesia/ink-whisper",
        target="/v1/stt",
        headers={"x-api-key": KEY, "cartesia-version": "2025-04-16"},
        form={"model": b"ink-whisper", "language": b"en"},
        written=MockResponse((recorded("transcription", "cartesia"),)),
        text="Hello from the Vercel AI SDK.",
        lost="prompt, temperature",
        seconds=2.479,
    ),
    *(
        Heard(
            model=f"{provider}/asr-1.0",
            target="/v1/speech_to_text",
            headers={**BEARER, "language": "en"},
            form={"model": b"asr-1.0", "response_format": b"json"},
            written=as_json(text="Hi", duration=1.5, base_resp={"status_code": 0}),
            text="Hi",
            lost="prompt, temperature",
            seconds=1.5,
        )
        for provider in ("minimax", "minimax-cn")
    ),
    Heard(
        model="hf/openai/whisper-large-v3",
        target="/hf-inference/models/openai/whisper-large-v3",
        headers={**BEARER, "content-type": "audio/wav"},
        written=as_json(text="Hi"),
        text="Hi",
        lost="language, prompt, temperature",
    ),
    *(
        Heard(
            model=model,
            target="/v1/audio/transcriptions",
            headers=BEARER if model.startswith("nvidia/") else KEYLESS,
            form={
                "model": model.partition("/")[2].encode(),
                "language": b"en",
                "prompt": b"reefs",
                "temperature": b"0.5",
            },
            written=as_json(text="Hi"),
            text="Hi",
        )
        for model in ("nvidia/nvidia/parakeet-ctc-1.1b-asr", "local-whisper/whisper-1")
    ),
]


@pytest.mark.parametrize("case", TRANSCRIPTIONS, ids=lambda case: case.model)
def test_a_vendor_transcribes(connected: Any, case: Heard) -> None:
    here: Served = connected(lambda received: case.written, provider_of(case.model))

    with openai.OpenAI(base_url=f"{here.url}/v1", api_key="none", max_retries=0) as client:
        raw = client.audio.transcriptions.with_raw_response.create(
            model=case.model,
            file=("a.wav", SOUND, "audio/wav"),
            language="en",
            prompt="reefs",
            temperature=0.5,
        )

    [received] = here.vendors["vendor"].received
    [row] = here.rows()
    assert received.target == case.target
    assert carried(received, case.headers) == case.headers
    if case.form is None:
        assert received.body == SOUND
    else:
        assert form_of(received) == {**case.form, "file": SOUND}
    assert raw.parse().text == case.text
    assert raw.headers.get("x-gateway-dropped", "") == case.lost
    assert row.units == (None if case.seconds is None else {"seconds": case.seconds})
    assert (row.cost or 0) == pytest.approx(case.cost * MICRO, abs=1)


def test_a_translation_goes_to_the_local_server(connected: Any) -> None:
    here: Served = connected(lambda received: as_json(text="Hi"), "local-whisper")

    found = httpx2.post(
        f"{here.url}/v1/audio/translations",
        files={"model": (None, "local-whisper/whisper-1"), "file": ("a.wav", SOUND)},
    )

    assert found.json() == {"text": "Hi"}
    assert here.vendors["vendor"].received[-1].path == "/v1/audio/translations"


def quick_assembly(url: str) -> list[ProviderSpec]:
    """AssemblyAI with a job that is looked at without a pause."""
    quick = replace(TRANSCRIPTION, interval=0.0)
    return [
        ProviderSpec(
            id="assembly-quick",
            name="Quick",
            base_url=f"{url}/v2",
            models=(Model("universal-2", kind=Kind.TRANSCRIPTION),),
            services=(Service(Kind.TRANSCRIPTION, quick),),
        )
    ]


def test_a_job_is_uploaded_submitted_and_polled(connected: Any) -> None:
    states = iter(("queued", "processing"))

    def say(received: ReceivedRequest) -> MockResponse:
        match received.path.rpartition("/")[2]:
            case "upload":
                return as_json(upload_url="https://cdn.assemblyai.com/upload/1")
            case "transcript":
                return as_json(id="t-1", status=next(states))
        state = next(states, "completed")
        done = {"text": "Hello reefs", "audio_duration": 281}
        return as_json(id="t-1", status=state, **(done if state == "completed" else {}))

    here: Served = connected(say, "assembly-quick", specs=lambda vendor: quick_assembly(vendor.url))

    with openai.OpenAI(base_url=f"{here.url}/v1", api_key="none", max_retries=0) as client:
        found = client.audio.transcriptions.create(
            model="assembly-quick/universal-2", file=("a.wav", SOUND), language="de"
        )

    upload, submit, *polls = here.vendors["vendor"].received
    assert found.text == "Hello reefs"
    assert (upload.body, upload.headers["content-type"]) == (SOUND, "application/octet-stream")
    assert submit.json() == {
        "audio_url": "https://cdn.assemblyai.com/upload/1",
        "speech_models": ["universal-2"],
        "language_code": "de",
    }
    assert [(each.method, each.path) for each in polls] == [("GET", "/v1/transcript/t-1")] * 2
    assert here.rows()[0].units == {"seconds": 281}


def test_a_job_that_fails_is_an_error_and_the_key_is_sent_as_it_is(connected: Any) -> None:
    def say(received: ReceivedRequest) -> MockResponse:
        if received.path.endswith("/upload"):
            return as_json(upload_url="https://cdn.assemblyai.com/upload/1")
        return as_json(id="t-1", status="error", error="No speech in it")

    here: Served = connected(say, "assemblyai")

    got = httpx2.post(
        f"{here.url}/v1/audio/transcriptions",
        files={"model": (None, "aai/universal-2"), "file": ("a.wav", SOUND)},
    )

    submit = here.vendors["vendor"].received[-1]
    assert (got.status_code, got.json()["error"]["message"]) == (502, "No speech in it")
    assert submit.headers["authorization"] == KEY
    assert submit.json()["language_detection"] is True


REFUSALS = [
    ("elevenlabs/eleven_v3", 401, {"detail": {"message": "Invalid API key"}}, "Invalid API key"),
    (
        "deepgram/aura-asteria-en",
        400,
        {"err_msg": "x", "message": "No such model"},
        "No such model",
    ),
    ("cartesia/sonic-3", 402, {"error": "Out of credits"}, "Out of credits"),
    ("inworld/inworld-tts-2", 429, {"code": 8, "message": "Slow down"}, "Slow down"),
    ("fish-audio/s1", 402, {"status": 402, "message": "No balance"}, "No balance"),
    ("playht/PlayDialog", 403, {"error_message": "Forbidden voice"}, "Forbidden voice"),
]


@pytest.mark.parametrize(("model", "status", "body", "words"), REFUSALS)
def test_a_refusal_comes_in_the_clients_shape(
    connected: Any, model: str, status: int, body: Any, words: str
) -> None:
    refusal = MockResponse((msgspec.json.encode(body),), status=status)
    here: Served = connected(lambda received: refusal, provider_of(model), key="me:secret")

    got = httpx2.post(f"{here.url}/v1/audio/speech", json={"model": model, "input": TEXT})

    assert got.status_code == status
    assert words in got.json()["error"]["message"]


@pytest.mark.parametrize(("code", "status"), [(1002, 429), (2049, 401), (2013, 400), (1000, 502)])
def test_a_refusal_with_status_200_is_an_error(connected: Any, code: int, status: int) -> None:
    refusal = as_json(base_resp={"status_code": code, "status_msg": "Not like this"})
    here: Served = connected(lambda received: refusal, "minimax")

    got = httpx2.post(
        f"{here.url}/v1/audio/speech", json={"model": "minimax/speech-2.8-hd", "input": TEXT}
    )

    assert got.status_code == status
    assert "Not like this" in got.json()["error"]["message"]


def test_an_account_without_a_user_is_refused_before_it_is_asked(connected: Any) -> None:
    here: Served = connected(lambda received: as_sound(), "playht")

    got = httpx2.post(
        f"{here.url}/v1/audio/speech", json={"model": "playht/PlayDialog", "input": TEXT}
    )

    assert got.status_code == 400
    assert "userId:apiKey" in got.json()["error"]["message"]
    assert not here.vendors["vendor"].received


@pytest.mark.parametrize("provider", ["minimax", "minimax-cn"])
def test_music_is_made(connected: Any, provider: str) -> None:
    song = "https://files.example/song.mp3"
    written = {
        "data": {"audio": song, "status": 2},
        "trace_id": "tr-1",
        "base_resp": {"status_code": 0},
    }
    here: Served = connected(lambda received: as_json(**written), provider)

    got = httpx2.post(
        f"{here.url}/v1/music/generations",
        json={"model": f"{provider}/music-2.6", "prompt": "Calm", "lyrics": "La", "mood": "sad"},
    )

    [received] = here.vendors["vendor"].received
    assert received.target == "/v1/music_generation"
    assert body_of(received) == {
        "model": "music-2.6",
        "prompt": "Calm",
        "lyrics": "La",
        "output_format": "url",
    }
    assert got.headers["x-gateway-dropped"] == "mood"
    shown = got.json()
    [row] = shown["data"]
    assert (shown["object"], shown["provider"]) == ("music.generation", provider)
    assert (shown["model"], shown["status"], shown["raw"]) == ("music-2.6", "completed", written)
    assert (row["id"], row["audio_url"], row["raw"]) == ("tr-1", song, written["data"])
    assert here.rows()[0].units == {"songs": 1}


def test_music_in_hex_becomes_base64_and_events_pass(connected: Any) -> None:
    events = (b'data: {"data":{"audio":"00"}}\n\n', b'data: {"data":{"status":2}}\n\n')

    def say(received: ReceivedRequest) -> MockResponse:
        if received.json().get("stream"):
            return MockResponse.stream(*events)
        return as_json(data={"audio": MP3.hex(), "status": 2}, base_resp={"status_code": 0})

    here: Served = connected(say, "minimax")
    members = {"model": "minimax/music-3.0", "prompt": "Calm"}
    address = f"{here.url}/v1/audio/music"

    whole = httpx2.post(address, json={**members, "output_format": "hex"})
    streamed = httpx2.post(address, json={**members, "stream": True})

    [row] = whole.json()["data"]
    assert base64.b64decode(row["b64_json"]) == MP3
    assert streamed.content == b"".join(events)


def test_a_cover_takes_one_source(connected: Any) -> None:
    here: Served = connected(
        lambda received: as_json(data={"audio": "https://a.example"}), "minimax"
    )
    members = {"model": "minimax/music-cover", "prompt": "Calm"}
    address = f"{here.url}/v1/music/generations"
    source = {"audio_url": "https://b.example/a.mp3"}

    statuses = [
        httpx2.post(address, json={**members, **extra}).status_code
        for extra in ({}, source, {**source, "cover_feature_id": "f"})
    ]

    assert statuses == [400, 200, 400]


@pytest.mark.parametrize(
    ("model", "written"),
    [
        ("inworld/inworld-tts-2", {"audioContent": 5}),
        ("hyperbolic/melo-tts", {}),
        ("minimax/speech-2.8-hd", {"data": {"audio": "no hex"}}),
    ],
)
def test_an_answer_without_sound_is_a_failure(connected: Any, model: str, written: Any) -> None:
    here: Served = connected(lambda received: as_json(**written), provider_of(model))

    got = httpx2.post(f"{here.url}/v1/audio/speech", json={"model": model, "input": TEXT})

    assert got.status_code == 502


@pytest.mark.parametrize("voice", ["..", ".", {"id": ".."}])
def test_a_voice_cannot_lead_to_another_path(connected: Any, voice: Any) -> None:
    here: Served = connected(lambda received: as_sound(), "elevenlabs")

    got = httpx2.post(
        f"{here.url}/v1/audio/speech",
        json={"model": "el/eleven_v3", "input": TEXT, "voice": voice},
    )

    assert got.status_code == 400
    assert not here.vendors["vendor"].received


def test_the_query_of_a_language_cannot_add_parameters(connected: Any) -> None:
    written = MockResponse((recorded("transcription", "deepgram", "nova-3-general"),))
    here: Served = connected(lambda received: written, "deepgram")

    httpx2.post(
        f"{here.url}/v1/audio/transcriptions",
        files={
            "model": (None, "deepgram/nova-2"),
            "file": ("a.wav", SOUND),
            "language": (None, "en&callback=https://evil.example"),
        },
    )

    [received] = here.vendors["vendor"].received
    query = dict(parse_qsl(urlsplit(received.target).query))
    assert set(query) == {"model", "smart_format", "punctuate", "language"}
