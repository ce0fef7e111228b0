"""What writing one request needs to know wherever it is: the vendor, and what gets lost."""

import hashlib
import re
from collections.abc import Mapping

from msgspec import Raw, Struct

from gateway_core import Conversation, Losses, Target, readable_by

from .._members import DIALECT
from .switches import Switches, read_switches

# Mistral refuses tool call ids of any other form.
_SHORT = re.compile(r"[a-zA-Z0-9]{9}")

# The vendor refuses longer ids; other dialects' are as long as they like.
_LONGEST_ID = 40

_LONGEST_LABEL = 64


class Draft(Struct, frozen=True):
    switches: Switches
    losses: Losses
    own: bool
    """Whether the conversation's ``extra`` members are of this dialect."""
    target: Target

    def extras(self, extra: Mapping[str, Raw], within: str = "") -> Mapping[str, Raw]:
        """The members to put back, or none and a note that they are lost."""
        if self.own or not extra:
            return extra
        self.losses.add_extra(extra, within=within)
        return {}

    def can_open(self, origin: str) -> bool:
        """Whether a signature, seal or file id of this origin means anything to the vendor."""
        return readable_by(origin, self.target.provider.id, DIALECT)

    def cache(self, lifetime: str | None) -> dict[str, str] | None:
        """A prompt-cache breakpoint, where the vendor takes one."""
        if lifetime is None:
            return None
        if not self.switches.cache_control:
            self.losses.add("cache_control")
            return None
        breakpoint = {"type": "ephemeral"}
        return {**breakpoint, "ttl": lifetime} if lifetime != "5m" else breakpoint

    def call_id(self, text: str) -> str:
        """An id that the vendor accepts; the same one for a call and for its result."""
        if self.switches.short_ids:
            return text if _SHORT.fullmatch(text) else _digest(text)[:9]
        return text if 0 < len(text) <= _LONGEST_ID else f"call_{_digest(text)[:24]}"

    def label(self, text: str) -> str:
        """Another dialect's opaque name for a user or a cache, no longer than is allowed here."""
        return text if self.own or len(text) <= _LONGEST_LABEL else _digest(text)


def _digest(text: str) -> str:
    return hashlib.sha256(text.encode()).hexdigest()


def begin(conversation: Conversation, target: Target, losses: Losses) -> Draft:
    switches = read_switches(target, conversation)
    return Draft(switches, losses, conversation.dialect == DIALECT, target)
