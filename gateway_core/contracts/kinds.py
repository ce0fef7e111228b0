"""The kinds of work a model can be for. A plugin may bring a kind of its own: any other word."""

import re
from enum import StrEnum

_HUMP = re.compile(r"(?<=[a-z])(?=[A-Z])")


class Kind(StrEnum):
    """The kinds that the gateway's own endpoints serve; the value is the word the catalog shows."""

    LLM = "llm"
    EMBEDDING = "embedding"
    RERANK = "rerank"
    MODERATION = "moderation"
    IMAGE = "image"
    IMAGE_TO_TEXT = "image-to-text"
    SPEECH = "tts"
    TRANSCRIPTION = "stt"
    AUDIO = "audio"
    MUSIC = "music"
    VIDEO = "video"
    SEARCH = "search"
    FETCH = "fetch"
    DECISION = "systemone"
    REALTIME = "realtime"
    REALTIME_TRANSLATION = "realtime-translation"
    REALTIME_TRANSCRIPTION = "realtime-transcription"
    LIVE = "live"
    DOCUMENT_PARSING = "document-parsing"


_OTHER_WORDS = {"webSearch": Kind.SEARCH, "webFetch": Kind.FETCH}


def read_kind(word: str | None) -> str:
    """The kind that a stored or received word means: ``imageToText`` is ``image-to-text``,
    ``webSearch`` is ``search``, and nothing is chat."""
    if not word:
        return Kind.LLM
    return _OTHER_WORDS.get(word) or _HUMP.sub("-", word).lower()
