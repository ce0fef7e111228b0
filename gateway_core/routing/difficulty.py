"""How hard a request looks, and how well a model fits it. A local guess, made from words alone."""

import re

from ..contracts.conversation import Conversation, Text
from ..contracts.provider import Target

LIGHT, STANDARD, HEAVY, CRITICAL = range(4)

_SMALL = re.compile(
    r"(?<!ge)mini(?!max)|nano|flash|haiku|lite|small|tiny|instant|air|[^0-9][1-9]b\b"
)
_LARGE = re.compile(r"opus|\bpro\b|-pro|\bmax\b|ultra|large|\bo[13]\b|405b|reasoner|fable|heavy")
_HARD = re.compile(
    r"\b(prove|proof|theorem|architect\w*|refactor|debug|optimi[sz]e|security|vulnerab\w*|"
    r"concurren\w*|migrat\w*|root cause|derive|formal\w*)\b",
    re.IGNORECASE,
)
_GRAVE = re.compile(
    r"\b(production (outage|incident)|data loss|legal advice|medical|diagnos\w*"
    r"|safety[- ]critical)\b",
    re.IGNORECASE,
)


def difficulty(conversation: Conversation) -> int:
    """From ``LIGHT`` to ``CRITICAL``, judged by the current user turn and the tools at hand."""
    text = last_words(conversation)
    if _GRAVE.search(text):
        return CRITICAL
    points = len(_HARD.findall(text)) + text.count("```")
    points += (len(text) > 2_000) + (len(text) > 12_000) + (len(conversation.tools) > 8)
    if conversation.thinking is not None and conversation.thinking.effort in (
        "high",
        "xhigh",
        "max",
    ):
        points += 2
    if points >= 3:
        return HEAVY
    return LIGHT if points == 0 and len(text) < 240 and not conversation.tools else STANDARD


def last_words(conversation: Conversation) -> str:
    """The text of the last turn that the user wrote."""
    for turn in reversed(conversation.turns):
        texts = [part.text for part in turn.parts if isinstance(part, Text)]
        if turn.role == "user" and texts:
            return "\n".join(texts)
    return ""


def strength(target: Target) -> int:
    """What a model is made for, as far as its name tells."""
    name = target.model.id.lower()
    if _SMALL.search(name):
        return LIGHT
    return HEAVY if _LARGE.search(name) else STANDARD


def fit(target: Target, wanted: int) -> tuple[int, int]:
    """Sorts best first: just strong enough, then stronger, then weaker."""
    gap = strength(target) - min(wanted, HEAVY)
    return (0, gap) if gap >= 0 else (1, -gap)
