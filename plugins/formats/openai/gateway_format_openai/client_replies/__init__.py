"""A reply, written whole for a client."""

from .chat import (
    NO_SPEECH_ID,
    annotation,
    call_members,
    is_hidden,
    media_members,
    reply_id,
    sealable,
    write_reply,
)
from .completions import KIND, completion_id, finish_word, note_lost, older_logprobs
from .completions import write_reply as write_completion_reply

__all__ = [
    "KIND",
    "NO_SPEECH_ID",
    "annotation",
    "call_members",
    "completion_id",
    "finish_word",
    "is_hidden",
    "media_members",
    "note_lost",
    "older_logprobs",
    "reply_id",
    "sealable",
    "write_completion_reply",
    "write_reply",
]
