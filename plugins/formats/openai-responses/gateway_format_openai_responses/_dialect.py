"""The dialect's name and the few words that several modules must agree on."""

import msgspec
from msgspec import Raw

from gateway_core import Citation

DIALECT = "openai-responses"
COMPACT = "openai-responses-compact"

# https://platform.openai.com/docs/api-reference/responses/create#responses-create-include
ENCRYPTED = "reasoning.encrypted_content"
LOGPROBS = "message.output_text.logprobs"
"""Values of ``include`` that the hub has its own names for."""

# The hub's assistant turn has no members of its own, so its first part carries them.
ON_MESSAGE = ("phase", "id", "status")
"""Members of an assistant's message that the ``extra`` of its first part carries."""
MESSAGE = "message."
"""Marks, in a part's ``extra``, other members of the message, and, in the type of a
foreign part, a piece of a message's content instead of an item of its own."""

NULL = Raw(b"null")


def is_own(citation: Citation) -> bool:
    return citation.raw is not None and citation.dialect == DIALECT


BROKEN = (msgspec.MsgspecError, UnicodeDecodeError, RecursionError)
"""What decoding JSON from outside may raise."""


def is_on_message(name: str) -> bool:
    """Whether a member of a part's ``extra`` belongs to the message around it."""
    return name in ON_MESSAGE or name.startswith(MESSAGE)


# A member of a content piece, after which the vendor ends a cached prefix.
BREAKPOINT = "prompt_cache_breakpoint"

ELSEWHERE = ("previous_response_id", "prompt", "conversation")
"""Members that stand for input which the vendor keeps."""
