"""Web search by a chat model with the vendor's own tool.

API reference: https://platform.kimi.ai/docs/guide/use-web-search

The vendor searches while the model runs: the arguments of its tool's call are sent back as the
tool's result.
"""

from collections.abc import Mapping
from typing import Any

from gateway_core import Kind, Service
from gateway_providers.services import (
    Again,
    JsonService,
    Question,
    ask,
    one_query,
    read_chat_search,
    read_completion,
)

MODEL = "kimi-k2.5"
PATH = "/chat/completions"
TOOL = {"type": "builtin_function", "function": {"name": "$web_search"}}


def write(question: Question) -> Mapping[str, Any]:
    words = ask(read_chat_search(question))
    return {
        "model": MODEL,
        "messages": [{"role": "user", "content": words}],
        "tools": [TOOL],
        # The tool cannot be used while thinking.
        "thinking": {"type": "disabled"},
    }


def read(question: Question, answer: Any) -> Mapping[str, Any] | Again:
    message = answer["choices"][0]["message"]
    calls = message.get("tool_calls")
    if not calls:
        return read_completion(question, answer)
    request = write(question)
    results = [
        {
            "role": "tool",
            "tool_call_id": call["id"],
            "name": call["function"]["name"],
            "content": call["function"]["arguments"],
        }
        for call in calls
    ]
    members = {**request, "messages": [*request["messages"], message, *results]}
    return Again(path=PATH, members=members, is_job=False)


SEARCH = Service(Kind.SEARCH, JsonService(path=PATH, write=write, read=read, usage=one_query))
