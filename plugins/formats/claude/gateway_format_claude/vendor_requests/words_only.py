"""Writes conversations that hold nothing but words, as most do, in one step.

A short cut: it saves a tenth of the instructions of a translated answer
(benchmarks/short-cuts-claude-gemini.md).
"""

from collections.abc import Sequence

from gateway_core import Conversation, Losses, Sampling, Target, Text, Turn

from .._dialect import Role
from .models import traits_of
from .settings import limit_tokens, write_labels, write_sampling
from .turn_order import text_block


def write_words_only(
    conversation: Conversation, target: Target, losses: Losses
) -> dict[str, object] | None:
    """The request's members; ``None`` for a conversation that holds more than words."""
    if (
        conversation.thinking is not None
        or conversation.output is not None
        or conversation.tool_choice is not None
    ):
        return None
    if conversation.tools or conversation.extra or conversation.keeps_prefill:
        return None
    if not all(map(_is_words, conversation.instructions)):
        return None
    messages = write_turns(conversation.turns)
    if messages is None or messages[-1]["role"] == "assistant":
        return None
    model, sampling = target.model, conversation.sampling
    body: dict[str, object] = {
        "model": model.id,
        "max_tokens": limit_tokens(sampling.max_tokens, model.max_output, losses),
    }
    if sampling != Sampling(max_tokens=sampling.max_tokens):
        traits = traits_of(model.id, target.provider.options)
        body |= write_sampling(sampling, None, traits, losses)
    if conversation.stream:
        body["stream"] = True
    body |= write_labels(conversation, losses)
    if len(conversation.instructions) == 1:
        body["system"] = conversation.instructions[0].text
    elif conversation.instructions:
        body["system"] = [text_block(part.text) for part in conversation.instructions]
    body["messages"] = messages
    return body


def write_turns(turns: Sequence[Turn]) -> list[dict[str, object]] | None:
    """The messages where user and assistant take turns with one text each; ``None`` for others."""
    messages: list[dict[str, object]] = []
    role: Role = "user"
    for turn in turns:
        if turn.role != role or turn.name is not None or turn.extra or len(turn.parts) != 1:
            return None
        part = turn.parts[0]
        if type(part) is not Text or not _is_words(part):
            return None
        messages.append({"role": role, "content": part.text})
        role = "assistant" if role == "user" else "user"
    return messages or None


def _is_words(part: Text) -> bool:
    """Whether a text has no other members, and is not only white space."""
    if part.extra or part.citations or part.origin:
        return False
    if part.cache is not None or part.signature is not None:
        return False
    return bool(part.text) and not part.text.isspace()
