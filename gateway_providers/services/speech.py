"""Speech and recordings in the words that vendors have in common.

A plugin reads what a client wants to hear with ``read_speech`` and lists voices with
``list_voices``; ``read_recording`` gives the file of a transcription.
"""

from collections.abc import Iterable, Mapping
from typing import Any

from msgspec import Struct

from gateway_core import BadRequest, FormPart, Kind, Target, Usage

from .forms import file_part
from .translated import Question

AUDIO_TYPES = {
    "mp3": "audio/mpeg",
    "opus": "audio/opus",
    "aac": "audio/aac",
    "flac": "audio/flac",
    "wav": "audio/wav",
    "pcm": "audio/pcm",
}
"""The media type of each ``response_format``."""
LONGEST = 1e9
"""A longer recording, seconds, is none."""
_FEMALE = {"female", "feminine", "woman"}
_MALE = {"male", "masculine", "man"}


class Speech(Struct, frozen=True, kw_only=True):
    """What is read aloud, and how."""

    text: str
    model: str
    """The vendor's model, without a voice."""
    voice: str
    """The vendor's voice; empty where neither the client nor the plugin names one."""
    format: str
    """One of those that the vendor has."""
    speed: float | None = None
    """1.0 is usual."""
    language: str | None = None


class Voice(Struct, frozen=True, kw_only=True):
    """A row of a vendor's list."""

    id: str
    name: str | None = None
    lang: str | None = None
    """Of BCP 47, such as ``en-US``."""
    gender: str | None = None
    """``female`` or ``male``, where that is known."""


def read_speech(
    question: Question,
    *,
    voice: str = "",
    formats: Iterable[str] = ("mp3",),
    carries: Iterable[str] = (),
) -> Speech:
    """Read a speech request. Members that are neither read nor in ``carries`` are named as lost.

    ``voice`` is spoken where the client names none. The first of ``formats`` is usual, and stands
    in for one that the vendor lacks, which is named as lost. Raises BadRequest.
    """
    members, losses = question.members, question.losses
    model, chosen = model_and_voice(question.target)
    wanted = _voice(members.get("voice"))
    if chosen and wanted and wanted != chosen:
        losses.add("voice")
    read = {"input", "voice", "response_format", *carries}
    for name, value in members.items():
        if name not in read and value is not None and (name, value) != ("stream_format", "audio"):
            losses.add(name)
    speed, language = members.get("speed"), members.get("language")
    return Speech(
        text=str(members["input"]).strip(),
        model=model,
        voice=chosen or wanted or voice,
        format=_format(question, tuple(formats)),
        speed=float(speed) if isinstance(speed, int | float) else None,
        language=language if isinstance(language, str) and language else None,
    )


def model_and_voice(target: Target) -> tuple[str, str]:
    """The model and the voice that a model id names; the voice is empty where it names none.

    ``<model>/<voice>`` names both. Any other id that the vendor does not list is a voice of the
    first model, as it is in the list of voices.
    """
    id = target.model.id
    listed = [model.id for model in target.provider.models if model.kind == Kind.SPEECH]
    for model in listed:
        if id == model or id.startswith(f"{model}/"):
            return model, id[len(model) + 1 :]
    first, slash, rest = id.partition("/")
    if slash:
        return first, rest
    return (listed[0], id) if listed else (id, "")


def count_characters(question: Question, answer: Any) -> Usage:
    """How many characters were spoken."""
    return Usage(units={"characters": float(len(str(question.members["input"]).strip()))})


def count_seconds(length: Any) -> Usage | None:
    """How long a recording is, where the vendor reports a number of seconds."""
    if not isinstance(length, int | float) or not 0 < length < LONGEST:
        return None
    return Usage(units={"seconds": float(length)})


def list_voices(question: Question, voices: Iterable[Voice]) -> Mapping[str, Any]:
    """The client's list of voices: those of the language that it wants, else all."""
    spec = question.target.provider
    wanted = question.call.path.get("lang", "").strip().replace("_", "-").casefold()
    data = [
        {
            "id": voice.id,
            "name": voice.name or voice.id,
            "lang": voice.lang,
            "gender": voice.gender,
            "model": f"{spec.alias or spec.id}/{voice.id}",
        }
        for voice in voices
        if not wanted or _speaks(voice.lang, wanted)
    ]
    return {"object": "list", "data": data}


def gender_of(*words: Any) -> str | None:
    """The gender that one of these words means."""
    for word in words:
        folded = word.casefold() if isinstance(word, str) else ""
        if folded in _FEMALE or folded in _MALE:
            return "female" if folded in _FEMALE else "male"
    return None


def read_recording(question: Question, *carries: str) -> FormPart:
    """The file to transcribe. Fields besides it that are not in ``carries`` are named as lost.

    Raises BadRequest for a form without a file.
    """
    usual = {("response_format", "json"), ("stream", "false")}
    for name, value in question.members.items():
        if name not in carries and (name, value) not in usual:
            question.losses.add(name)
    part = file_part(question.call.form)
    if part is None:
        raise BadRequest("Missing required field: file", param="file")
    return part


def _voice(value: Any) -> str:
    """A voice is a name, or an object with an id. Raises BadRequest for one that would be another
    place in a URL."""
    voice = value.get("id") if isinstance(value, Mapping) else value
    if voice in (".", ".."):
        raise BadRequest("Invalid voice", param="voice")
    return voice if isinstance(voice, str) else ""


def _format(question: Question, possible: tuple[str, ...]) -> str:
    """What the body wants, else what the query wants."""
    query = question.call.path.get("response_format", "")
    wanted = question.members.get("response_format") or ("" if query == "json" else query)
    if wanted in possible:
        return str(wanted)
    if wanted:
        question.losses.add("response_format")
    return possible[0]


def _speaks(language: str | None, wanted: str) -> bool:
    spoken = (language or "").replace("_", "-").casefold()
    return spoken == wanted or spoken.startswith(f"{wanted}-")
