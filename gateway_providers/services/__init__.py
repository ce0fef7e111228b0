"""Services besides chat: adapters for vendors that speak them as the completions vendor does, and
for those whose requests and answers differ."""

from .completions import COMPLETIONS, PassThroughService, StatusService, completions_service
from .exchanges import PassedAnswer, WholeExchange
from .forms import content_of, field, file_part, write_form
from .requests import service_url, vendor_request
from .speech import (
    AUDIO_TYPES,
    Speech,
    Voice,
    count_characters,
    count_seconds,
    gender_of,
    list_voices,
    model_and_voice,
    read_recording,
    read_speech,
)
from .translated import Again, BytesService, Content, Form, JsonService, Question
from .usages import count_of, read_usage
from .web import Search, fetch_model, option_of, present, read_search, rows_of, search_model

__all__ = [
    "AUDIO_TYPES",
    "COMPLETIONS",
    "Again",
    "BytesService",
    "Content",
    "Form",
    "JsonService",
    "PassThroughService",
    "PassedAnswer",
    "Question",
    "Search",
    "Speech",
    "StatusService",
    "Voice",
    "WholeExchange",
    "completions_service",
    "content_of",
    "count_characters",
    "count_of",
    "count_seconds",
    "fetch_model",
    "field",
    "file_part",
    "gender_of",
    "list_voices",
    "model_and_voice",
    "option_of",
    "present",
    "read_recording",
    "read_search",
    "read_speech",
    "read_usage",
    "rows_of",
    "search_model",
    "service_url",
    "vendor_request",
    "write_form",
]
