"""Web search by a chat model with the vendor's own tool.

API reference: https://platform.minimax.io/docs/api-reference/text-post
"""

from collections.abc import Mapping
from typing import Any

from gateway_core import Kind, Service
from gateway_providers.services import (
    JsonService,
    Question,
    ask,
    one_query,
    read_chat_search,
    read_completion,
)

from .answers import checked

MODEL = "MiniMax-M2.7"


def write(question: Question) -> Mapping[str, Any]:
    words = ask(read_chat_search(question))
    return {
        "model": MODEL,
        "messages": [{"role": "user", "content": words}],
        "tools": [{"type": "web_search"}],
    }


def read(question: Question, answer: Any) -> Mapping[str, Any]:
    return read_completion(question, checked(answer))


def search(host: str) -> Service:
    service = JsonService(
        path="/text/chatcompletion_v2",
        base_url=f"{host}/v1",
        write=write,
        read=read,
        usage=one_query,
    )
    return Service(Kind.SEARCH, service)
