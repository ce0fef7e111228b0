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
    wish = conversation
    if wish.thinking is not None or wish.output is not None or wish.tool_choice is not None:
        return None
    if wish.tools or wish.extra:
        return None
    system = _write_system(wish.instructions)
    messages = write_turns(wish.turns)
    if system is None or messages is None or messages[-1]["role"] == "assistant":
        return None
    model, sampling = target.model, wish.sampling
    body: dict[str, object] = {
        "model": model.id,
        "max_tokens": limit_tokens(sampling.max_tokens, model.max_output, losses),
    }
    if sampling != Sampling(max_tokens=sampling.max_tokens):
        traits = traits_of(model.id, target.provider.options)
        body |= write_sampling(sampling, None, traits, losses)
    if wish.stream:
        body["stream"] = True
    body |= write_labels(wish, losses)
    if system:
        body["system"] = system
    body["messages"] = messages
    return body


def _write_system(instructions: Sequence[Text]) -> str | list[dict[str, object]] | None:
    """Empty for no instructions; ``None`` for any that are more than words."""
    if not all(map(_is_words, instructions)):
        return None
    if len(instructions) == 1:
        return instructions[0].text
    return [text_block(part.text) for part in instructions]


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
