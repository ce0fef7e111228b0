"""Removes secrets from texts that are shown or logged."""

import re
from collections.abc import Iterable, Iterator
from typing import Any

from ..contracts.provider import Credential
from ..storage.stores.connection import shown_and_secret

MASK = "***"
LONGEST = 500
_SHORTEST = 4
"""A secret shorter than this is no secret, and would be found in every other word."""
_SECRETS = (
    (re.compile(r"(?i)\b(bearer|basic)\s+[a-z0-9._~+/=-]{8,}"), rf"\1 {MASK}"),
    (re.compile(r"\b(sk|pk|rk|key)-[A-Za-z0-9_-]{8,}"), rf"\1-{MASK}"),
    (re.compile(r"\beyJ[A-Za-z0-9_.-]+"), MASK),
    (re.compile(r"(?<=://)[^/\s@]+@"), f"{MASK}@"),
    (
        re.compile(
            r"(?i)\b((?:api[_-]?|access[_-]?)?(?:key|token|secret|password))(=|:\s*)[^\s&,;]+"
        ),
        rf"\1\2{MASK}",
    ),
)
_PATH = re.compile(r"(?<![\w:/.])/(?:home|root|Users|tmp|var|opt|etc)/\S+")


def redact(text: str, secrets: Iterable[str] = ()) -> str:
    """A vendor's words as they may be shown: one line, not long, nothing secret."""
    line = next((line for line in text.splitlines() if line.strip()), "").strip()
    # The longest first: a secret that is part of another would leave the other's rest readable.
    for secret in sorted(secrets, key=len, reverse=True):
        if len(secret) >= _SHORTEST:
            line = line.replace(secret, MASK)
    line = _PATH.sub("<path>", hidden(line))
    return line if len(line) <= LONGEST else f"{line[: LONGEST - 1]}…"


def hidden(text: str) -> str:
    """A text of our own for the log: as it is, but for what looks like a secret."""
    for pattern, instead in _SECRETS:
        text = pattern.sub(instead, text)
    return text


def masked(data: bytes, secrets: Iterable[str]) -> bytes:
    """A vendor's bytes with a mask in the place of each secret."""
    for secret in sorted(secrets, key=len, reverse=True):
        if len(secret) >= _SHORTEST:
            data = data.replace(secret.encode(), MASK.encode())
    return data


def texts(value: Any) -> Iterator[str]:
    """Every text in a document of secrets, however deep."""
    if isinstance(value, str):
        yield value
    elif isinstance(value, dict):
        for member in value.values():
            yield from texts(member)
    elif isinstance(value, list | tuple):
        for member in value:
            yield from texts(member)


def secrets_of(credential: Credential) -> tuple[str, ...]:
    """Every secret of an account."""
    own = (credential.secret,) if credential.secret else ()
    return (*own, *texts(shown_and_secret(credential.data)[1]))
