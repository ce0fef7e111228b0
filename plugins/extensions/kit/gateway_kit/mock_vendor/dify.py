"""Dify's answers, which are always whole.

https://docs.dify.ai/api-reference/chat/send-chat-message
"""

from collections.abc import Sequence

from .content import Content
from .frames import Dialect, Frame, encode


def _whole(content: Content, model: str) -> bytes:
    usage = content.usage and {
        "prompt_tokens": content.usage.input,
        "completion_tokens": content.usage.output,
    }
    return encode(
        {
            "event": "message",
            "message_id": "message-1",
            "mode": "chat",
            "answer": content.words,
            "metadata": {"usage": usage},
            "created_at": 1_705_407_629,
        }
    )


def _stream(content: Content, model: str) -> Sequence[Frame]:
    return [Frame("text", _whole(content, model))]


def _refusal(text: str, status: int) -> bytes:
    return encode({"status": status, "code": "invalid_param", "message": text})


def _broken(text: str) -> bytes:
    return _refusal(text, 500)


DIFY = Dialect(
    id="dify",
    framing="whole",
    whole=_whole,
    stream=_stream,
    refusal=_refusal,
    broken=_broken,
    counts=frozenset(),
    thinks=False,
    model_member=None,
    stream_member=None,
)
