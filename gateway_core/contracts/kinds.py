"""The kinds of work a model can be for."""

from enum import StrEnum


class Kind(StrEnum):
    """One service kind; the value is the word the catalog shows and filters by."""

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
