"""Members of a policy that were meant to restrict a key, and would not.

A policy keeps members that nobody knows (2.2). One that looks like a limit or a rule is refused
instead: it would make a key without any.
"""

import re
from collections.abc import Mapping
from difflib import get_close_matches
from typing import Any

from gateway_core.contracts.errors import BadRequest
from gateway_core.identity.policy import KNOWN

LONGEST_SHOWN = 128
"""Characters of a name that a message repeats."""
ALIKE = 0.8
"""The share of letters in common from which two names are taken for the same."""
RESTRICTING = frozenset(
    {
        *("allow", "allowed", "deny", "denied", "block", "blocked", "forbid", "forbidden"),
        *(
            "limit",
            "limits",
            "max",
            "maximum",
            "quota",
            "cap",
            "budget",
            "rpm",
            "tpm",
            "rpd",
            "tpd",
        ),
        *("daily", "monthly", "hourly", "token", "tokens", "combos", "expires", "expiry", "scope"),
    }
)
"""Words that only a restriction has in its name."""
RESTRICTING_BESIDE = (
    *("isActive", "expiresAt", "allowedCombos", "providerConnectionIds", "dailyLimitTokens"),
    "inferenceOnly",
)
"""Members beside the policy that restrict a key."""
_word = re.compile(r"[A-Z]+(?![a-z])|[A-Z]?[a-z]+")


def check_policy(members: Mapping[str, Any], beside: frozenset[str]) -> None:
    """Refuse members that belong ``beside`` the policy, and misspelt restrictions.

    ``null`` removes a member and is let through. Raises BadRequest.
    """
    for name, value in members.items():
        if name in KNOWN or value is None:
            continue
        shown = name[:LONGEST_SHOWN]
        if name in beside:
            raise BadRequest(
                f'Invalid policy: "{shown}" is a member of the key, to be written beside the policy'
            )
        if is_restriction(name):
            names = ", ".join(KNOWN)
            raise BadRequest(f'Invalid policy: unknown member "{shown}", possible are {names}')


def is_restriction(name: str) -> bool:
    """Whether an unknown name looks like that of a limit or a rule."""
    if not RESTRICTING.isdisjoint(word.lower() for word in _word.findall(name)):
        return True
    known = [_plain(each) for each in (*KNOWN, *RESTRICTING_BESIDE)]
    return bool(get_close_matches(_plain(name), known, n=1, cutoff=ALIKE))


def _plain(name: str) -> str:
    return re.sub(r"[\W_]", "", name).lower()
