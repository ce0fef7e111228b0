"""Text completions: the older dialect that asks with one prompt, for clients that still do.

A prompt becomes a chat with one user message.
"""

from collections.abc import Mapping

from msgspec import Raw
from msgspec.structs import replace

from gateway_core import BadRequest, Call, Conversation, Intake, Text, Turn
from gateway_formats.intake import read_flag, read_text

from .._members import (
    Members,
    anything_of,
    body_of,
    first,
    invalid,
    is_list,
    is_text,
    items_of,
    take,
    text_of,
)
from .chat import read_rest


def read_intake(
    path: Mapping[str, str], headers: Mapping[str, str], members: Mapping[str, Raw]
) -> Intake:
    """Raises BadRequest for a prompt that is missing or not one prompt."""
    _prompt(dict(members))
    return Intake(read_text(members, "model"), read_flag(members, "stream"))


def read_request(call: Call) -> Conversation:
    members = body_of(call.body, "Invalid JSON body")
    prompt = _prompt(members)
    # A number says both that log probabilities are requested and how many:
    # https://platform.openai.com/docs/api-reference/completions/create#completions-create-logprobs
    raw, count = members.get("logprobs"), None
    if raw is not None and first(raw) not in b"tfn":
        count = anything_of(raw)
        if type(count) is not int or count < 0:
            raise invalid("logprobs", "must be an integer")
        del members["logprobs"]
    turns = (Turn("user", (Text(text=prompt),) if prompt else ()),)
    conversation = read_rest(call, members, (), turns)
    if count is None:
        return conversation
    sampling = replace(conversation.sampling, logprobs=True, top_logprobs=count or None)
    return replace(conversation, sampling=sampling)


def _prompt(members: Members) -> str:
    raw = take(members, "prompt")
    if raw is None:
        raise BadRequest("Missing prompt", param="prompt")
    if is_text(raw):
        return text_of(raw, "prompt")
    items = items_of(raw, "prompt") if is_list(raw) else []
    if len(items) > 1 and all(is_text(item) or is_list(item) for item in items):
        raise BadRequest("multiple prompts not supported", param="prompt")
    if len(items) != 1 or not is_text(items[0]):
        raise BadRequest("Invalid prompt", param="prompt")
    return text_of(items[0], "prompt[0]")
