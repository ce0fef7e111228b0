"""A vendor's quirks, as its ``ProviderSpec.options`` declare them, with everything defaulted."""

import re

from msgspec import Struct

from gateway_core import Conversation, Target

from .._members import DIALECT

# "max_tokens" is deprecated, and refused by reasoning models:
# https://platform.openai.com/docs/api-reference/chat/create#chat-create-max_tokens
_NEEDS_NEW_NAME = re.compile(r"(?:^|/)(?:o\d|gpt-(?:[5-9]|\d\d))")
"""Models whose vendor refuses ``max_tokens`` wherever they are hosted."""


class Switches(Struct, frozen=True, kw_only=True):
    """See the package's docstring for what each one means."""

    limit_name: str = "max_tokens"
    system_role: str = "system"
    reasoning: str = "effort"
    reasoning_content: str = ""
    documents: str = "file"
    web_search: str = ""
    stream_usage: bool = True
    json_schema: bool = True
    images_in_tool_results: bool = False
    short_ids: bool = False
    cache_control: bool = False
    top_k: bool = False
    min_p: bool = False
    video: bool = False
    prompt_cache_key: bool = False
    custom_tools: bool = False
    allowed_tools: bool = False


def read_switches(target: Target, conversation: Conversation) -> Switches:
    """The vendor's declared options, completed with defaults.

    What a client of this same dialect asks for is taken to be meant for this vendor.
    """
    options, own = target.provider.options, conversation.dialect == DIALECT

    def accepts(name: str) -> bool:
        return bool(options.get(name, own))

    def word(name: str, default: str) -> str:
        value = options.get(name, default)
        return value if isinstance(value, str) else (name if value else "")

    return Switches(
        limit_name=limit_name(options.get("max_tokens"), target.model.id),
        system_role=word("system_role", "system"),
        reasoning=word("reasoning", "effort") or "none",
        reasoning_content=word("reasoning_content", ""),
        documents=word("documents", "file"),
        web_search=word("web_search", ""),
        stream_usage=not options.get("no_stream_usage", False),
        json_schema=bool(options.get("json_schema", True)),
        images_in_tool_results=bool(options.get("images_in_tool_results", False)),
        short_ids=bool(options.get("short_ids", False)),
        cache_control=accepts("cache_control"),
        top_k=accepts("top_k"),
        min_p=accepts("min_p"),
        video=accepts("video"),
        prompt_cache_key=accepts("prompt_cache_key"),
        custom_tools=accepts("custom_tools"),
        allowed_tools=accepts("allowed_tools"),
    )


def limit_name(option: str | bool | None, model: str) -> str:
    """What this vendor calls the limit of an answer's length."""
    if isinstance(option, str):
        return option
    old = option if option is not None else not _NEEDS_NEW_NAME.search(model)
    return "max_tokens" if old else "max_completion_tokens"
