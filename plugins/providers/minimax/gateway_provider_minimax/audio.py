"""MiniMax's audio: speech, voices, transcription and music.

Speech: https://platform.minimax.io/docs/api-reference/speech-t2a-http
Voices: https://platform.minimax.io/docs/api-reference/voice-management-get
Transcription: https://platform.minimax.io/docs/api-reference/speech-to-text
Music: https://platform.minimax.io/docs/api-reference/music-generation

A refusal comes with status 200 and a code in ``base_resp``.
"""

from base64 import b64encode
from collections.abc import Iterator, Mapping
from typing import Any

from msgspec import Raw

from gateway_core import (
    BadRequest,
    Call,
    Credential,
    Kind,
    Service,
    ServiceExchange,
    Target,
    UpstreamError,
    Usage,
)
from gateway_providers.services import (
    AUDIO_TYPES,
    BytesService,
    Content,
    Form,
    JsonService,
    Question,
    Speech,
    Voice,
    count_characters,
    count_seconds,
    field,
    gender_of,
    list_voices,
    present,
    read_recording,
    read_speech,
)

FORMATS = ("mp3", "wav", "flac", "pcm")
OWN_SPEECH = ("voice_setting", "audio_setting", "pronunciation_dict", "voice_modify")
"""Members of the vendor's own that a client may send."""
# https://platform.minimax.io/docs/api-reference/errorcode
STATUSES = {1002: 429, 1004: 401, 1008: 402, 1026: 400, 1027: 400, 1039: 429, 2013: 400, 2049: 401}
LANGUAGES = {
    "English": "en",
    "Chinese (Mandarin)": "zh",
    "Cantonese": "yue",
    "Japanese": "ja",
    "Korean": "ko",
    "Spanish": "es",
    "Portuguese": "pt",
    "French": "fr",
    "German": "de",
    "Italian": "it",
    "Russian": "ru",
    "Arabic": "ar",
    "Turkish": "tr",
    "Dutch": "nl",
    "Ukrainian": "uk",
    "Vietnamese": "vi",
    "Indonesian": "id",
    "Thai": "th",
    "Polish": "pl",
    "Romanian": "ro",
    "Greek": "el",
    "Czech": "cs",
    "Finnish": "fi",
    "Hindi": "hi",
}
"""What the ids of the vendor's own voices begin with."""
OWN_MUSIC = (
    "prompt",
    "lyrics",
    "stream",
    "output_format",
    "audio_setting",
    "audio_url",
    "audio_base64",
    "cover_feature_id",
    "is_instrumental",
    "lyrics_optimizer",
    "aigc_watermark",
)
COVER = "music-cover"
SOURCES = ("audio_url", "audio_base64", "cover_feature_id")


def check(answer: Any) -> Mapping[str, Any]:
    """An answer that is no refusal. Raises UpstreamError."""
    refusal = answer.get("base_resp") or {}
    code = refusal.get("status_code", 0)
    if code:
        message = str(refusal.get("status_msg") or "The upstream reported an error")
        raise UpstreamError(message, status=STATUSES.get(code, 502), code=str(code))
    result: Mapping[str, Any] = answer
    return result


def speech_of(question: Question) -> Speech:
    carries = ("speed", "language", "language_boost", *OWN_SPEECH)
    voice = "English_expressive_narrator"
    return read_speech(question, voice=voice, formats=FORMATS, carries=carries)


def write_speech(question: Question) -> Mapping[str, Any]:
    speech, members = speech_of(question), question.members
    own = {name: members[name] for name in OWN_SPEECH if isinstance(members.get(name), Mapping)}
    voice = {**own.pop("voice_setting", {}), **present(voice_id=speech.voice, speed=speech.speed)}
    audio = {**own.pop("audio_setting", {}), "format": speech.format}
    return present(
        model=speech.model,
        text=speech.text,
        stream=False,
        output_format="hex",
        voice_setting=voice,
        audio_setting=audio,
        language_boost=members.get("language_boost") or speech.language,
        **own,
    )


def read_speech_answer(question: Question, answer: Any) -> Content:
    audio = bytes.fromhex(check(answer)["data"]["audio"])
    return Content(audio, AUDIO_TYPES[speech_of(question).format])


def spoken(question: Question, answer: Any) -> Usage:
    """The vendor counts a Chinese character as two."""
    counted = (answer.get("extra_info") or {}).get("usage_characters")
    if isinstance(counted, int) and 0 < counted < 1_000_000:
        return Usage(units={"characters": float(counted)})
    return count_characters(question, answer)


def read_voices(question: Question, answer: Any) -> Mapping[str, Any]:
    return list_voices(question, voices(check(answer)))


def voices(answer: Mapping[str, Any]) -> Iterator[Voice]:
    for group in ("system_voice", "voice_cloning", "voice_generation"):
        for row in answer.get(group) or ():
            words = " ".join((row.get("voice_name") or "", *(row.get("description") or ())))
            yield Voice(
                id=row["voice_id"],
                name=row.get("voice_name"),
                lang=LANGUAGES.get(row["voice_id"].partition("_")[0]),
                gender=gender_of(*words.replace("(", " ").replace(")", " ").split()),
            )


def write_recording(question: Question) -> Form:
    part = read_recording(question, "language", "response_format")
    wanted = question.members.get("response_format")
    # The subtitle formats are no JSON, and the endpoint's answer is.
    if wanted not in (None, "json", "verbose_json"):
        question.losses.add("response_format")
        wanted = None
    model = field("model", question.target.model.id)
    return Form((model, field("response_format", str(wanted or "json")), part))


def recording_headers(question: Question) -> Mapping[str, str]:
    language = question.members.get("language")
    # Of BCP 47, so anything else is no header.
    if isinstance(language, str) and language.replace("-", "").isalnum() and language.isascii():
        return {"language": language}
    return {}


def read_text(question: Question, answer: Any) -> Mapping[str, Any]:
    result = check(answer)
    if question.members.get("response_format") == "verbose_json":
        return {name: value for name, value in result.items() if name != "base_resp"}
    return {"text": result["text"]}


def heard(question: Question, answer: Any) -> Usage | None:
    return count_seconds(answer.get("duration"))


def write_music(question: Question) -> Mapping[str, Any]:
    question.lose_all_but(*OWN_MUSIC)
    members = {name: question.members[name] for name in OWN_MUSIC if name in question.members}
    if question.target.model.id == COVER and len(present(**_of(members, SOURCES))) != 1:
        raise BadRequest(f"{COVER} takes exactly one of {', '.join(SOURCES)}", param="audio_url")
    # An address is what clients look for; a stream has hex alone.
    usual = {} if members.get("stream") is True else {"output_format": "url"}
    return {"model": question.target.model.id, **usual, **members}


def read_music(question: Question, answer: Any) -> Mapping[str, Any]:
    data = check(answer).get("data")
    if not isinstance(data, Mapping):
        raise UpstreamError("The upstream made no music")
    audio, target = data.get("audio"), question.target
    is_address = isinstance(audio, str) and audio.startswith(("https://", "http://"))
    row: dict[str, Any] = {"id": answer.get("trace_id"), "audio_url": audio if is_address else None}
    if isinstance(audio, str) and not is_address:
        row["b64_json"] = b64encode(bytes.fromhex(audio)).decode()
    done = data.get("status") == 2 or bool(audio)
    row |= {"status": "completed" if done else "submitted", "raw": data}
    return {
        "object": "music.generation",
        "provider": target.provider.id,
        "model": target.model.id,
        "status": row["status"],
        "data": [row],
        "raw": answer,
    }


def one_song(question: Question, answer: Any) -> Usage:
    return Usage(units={"songs": 1.0})


class Music:
    """Music whole, or as the vendor's events."""

    def __init__(self, base_url: str) -> None:
        path = "/music_generation"
        self._whole = JsonService(
            path=path, write=write_music, read=read_music, usage=one_song, base_url=base_url
        )
        self._events = BytesService(
            path=path,
            write=write_music,
            media_type="text/event-stream",
            usage=one_song,
            base_url=base_url,
        )

    def open(self, call: Call, target: Target, credential: Credential) -> ServiceExchange:
        is_stream = call.members.get("stream") == Raw(b"true")
        return (self._events if is_stream else self._whole).open(call, target, credential)


def audio_services(base_url: str) -> tuple[Service, ...]:
    """The services below the address of one of the vendor's platforms."""
    speech = JsonService(
        path="/t2a_v2",
        write=write_speech,
        read=read_speech_answer,
        usage=spoken,
        base_url=base_url,
    )
    listing = JsonService(
        path="/get_voice",
        write=lambda question: {"voice_type": "all"},
        read=read_voices,
        base_url=base_url,
    )
    transcription = JsonService(
        path="/speech_to_text",
        write=write_recording,
        read=read_text,
        usage=heard,
        headers=recording_headers,
        base_url=base_url,
    )
    return (
        Service(Kind.SPEECH, speech),
        Service(Kind.SPEECH, listing, "voices"),
        Service(Kind.TRANSCRIPTION, transcription),
        Service(Kind.MUSIC, Music(base_url)),
    )


def _of(members: Mapping[str, Any], names: tuple[str, ...]) -> dict[str, Any]:
    return {name: members.get(name) for name in names}
