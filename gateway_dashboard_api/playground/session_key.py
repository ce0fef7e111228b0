"""The key that calls of the playground are booked on: one for each way of being let in.

It has no text, so nobody can show it, and it is not stored: the ledger's rows name it by the word
that the audit trail has for the same person.
"""

from gateway_core.identity.caller import Caller
from gateway_core.identity.keys import Key
from gateway_core.identity.policy import Policy

PREFIX = "playground:"
"""Ids of stored keys have no colon."""


def session_caller(caller: Caller) -> Caller:
    """Return the operator as the client of an endpoint, whatever else their request shows."""
    return Caller(peer=caller.peer, key=session_key(caller), session=caller.session)


def session_key(caller: Caller) -> Key:
    """Return the key of an operator, who may call whatever they could give a key for."""
    # A name is the identity provider's text, and not every database takes a NUL.
    actor = "".join(each if each.isprintable() else "?" for each in caller.actor)
    return Key(
        id=PREFIX + actor,
        name=name_of(PREFIX + actor) or actor,
        digest=b"",
        is_active=True,
        expires_at=None,
        allowed_combos=frozenset(),
        policy=Policy(),
        connections=frozenset(),
        has_limits=False,
        is_restricted=False,
        inference_only=True,
    )


def name_of(identity: str) -> str | None:
    """Name the key of a session for people; ``None`` for any other key."""
    if not identity.startswith(PREFIX):
        return None
    return f"Playground ({identity.removeprefix(PREFIX).removeprefix('session:')})"
