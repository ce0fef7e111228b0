"""A rule at work on one text, which comes whole or in pieces."""

import asyncio
from collections.abc import Sequence

from msgspec.structs import replace

from gateway_core import Call

from .languages import ENOUGH
from .opinions import USUAL_MOST, Length, Subject, Uncheckable
from .rule_in_force import RuleInForce
from .scanner import Scanner

SLICE = 16 * 1024
"""Characters that are looked at before others have their turn."""
WORDS = {"block": "blocked", "redact": "redacted", "flag": "flagged", "shadow": "would block"}


class Blocked(Exception):
    """A rule does not let a text pass."""

    def __init__(self, each: RuleInForce, direction: str) -> None:
        super().__init__(each.name)
        self.own_message = each.rule.message
        """The operator's, which may be empty."""
        self.message = self.own_message or f"The {direction} was blocked by the rule {each.name}"


class Work:
    """What the stages of one call share."""

    def __init__(self, call: Call, direction: str) -> None:
        """``direction`` is ``request`` or ``answer``."""
        self._call, self.direction = call, direction
        self.subject = Subject(text="", direction=direction, model=call.model, key_id=call.key_id)

    def met(self, each: RuleInForce, label: str) -> None:
        """A rule's condition is met: note it. Raises Blocked."""
        what = "" if label == each.name else f" {label}"
        self._note(each, f"{WORDS[each.action]}{what}")
        if each.action == "block":
            raise Blocked(each, self.direction)

    def failed(self, each: RuleInForce, error: Uncheckable) -> None:
        """A rule could not be checked. Raises Blocked."""
        is_block = each.rule.on_failure == "block" and each.action == "block"
        self._note(each, f"not checked ({error}), {'blocked' if is_block else 'passed'}")
        if is_block:
            raise Blocked(each, self.direction)

    async def ask(self, each: RuleInForce, text: str) -> None:
        """Ask a rule for its opinion of a whole text. Raises Blocked."""
        assert each.opinion is not None
        if not text:
            return
        try:
            allows = await each.opinion.allows(replace(self.subject, text=text))
        except Uncheckable as error:
            self.failed(each, error)
        else:
            if not allows:
                self.met(each, each.name)

    def _note(self, each: RuleInForce, words: str) -> None:
        self._call.note(f"guardrails: {each.name} {words} ({self.direction})")


class Finding:
    """The stage of a rule that finds places."""

    def __init__(self, each: RuleInForce, work: Work) -> None:
        self._each, self._work = each, work
        self._scanner = Scanner(each.detectors, each.replacement)

    async def feed(self, piece: str, *, is_last: bool) -> str:
        """What of the text may go on. Raises Blocked."""
        output = []
        for start in range(0, len(piece), SLICE) or (0,):
            if start:
                await asyncio.sleep(0)
            is_end = is_last and start + SLICE >= len(piece)
            text, labels = self._scanner.feed(piece[start : start + SLICE], is_last=is_end)
            for label in dict.fromkeys(labels):
                self._work.met(self._each, label)
            output.append(text)
        # A rule that changes nothing holds nothing back.
        changes = self._each.action in ("block", "redact")
        return "".join(output) if changes else piece


class Judging:
    """The stage of a rule that has an opinion of a whole text: it goes on once that is known."""

    def __init__(self, each: RuleInForce, work: Work) -> None:
        self._each, self._work = each, work
        self._text, self._given = "", 0
        self._is_known = False
        rule = each.rule
        self._enough = ENOUGH if rule.kind == "language" else 0
        self._most = rule.most or USUAL_MOST

    async def feed(self, piece: str, *, is_last: bool) -> str:
        """What of the text may go on. Raises Blocked."""
        if self._is_known:
            return piece
        self._text += piece
        is_enough = self._enough and len(self._text) >= self._enough
        if is_last or is_enough or len(self._text) > self._most:
            self._is_known = True
            await self._work.ask(self._each, self._text)
        if self._each.action == "block" and not self._is_known:
            return ""
        text, self._given = self._text[self._given :], len(self._text)
        if self._is_known:
            self._text = ""
        return text


class Counting:
    """The stage of a rule of length: what is not too long yet goes on at once."""

    def __init__(self, each: RuleInForce, work: Work) -> None:
        self._each, self._work = each, work
        self._left = each.rule.most

    async def feed(self, piece: str, *, is_last: bool) -> str:
        """Raises Blocked."""
        if 0 <= self._left < len(piece):
            self._work.met(self._each, self._each.name)
        self._left -= len(piece)
        return piece


Stage = Finding | Judging | Counting


def stage_of(each: RuleInForce, work: Work) -> Stage:
    """A rule's, for a text that begins."""
    if each.opinion is None:
        return Finding(each, work)
    return Counting(each, work) if isinstance(each.opinion, Length) else Judging(each, work)


class Stages:
    """The rules at work on one text, one behind the other."""

    def __init__(self, stages: Sequence[Stage]) -> None:
        self._stages = stages

    async def feed(self, piece: str, *, is_last: bool) -> str:
        """What of the text may go on. Raises Blocked."""
        for stage in self._stages:
            piece = await stage.feed(piece, is_last=is_last)
        return piece
