"""Which credentials an operation takes, as the OpenAPI document says it."""

from collections.abc import Mapping
from typing import Any

from gateway_core.identity.access import RULES, Access
from gateway_core.identity.credentials import CLI_HEADER, COOKIE

KEYS = ("bearer", "apiKey", "altApiKey", "queryKey")
"""Four ways to show one and the same gateway key, in the order in which they count."""


def _place(place: str, name: str, about: str) -> dict[str, str]:
    return {"type": "apiKey", "in": place, "name": name, "description": about}


SCHEMES: Mapping[str, Mapping[str, Any]] = {
    "session": _place("cookie", COOKIE, "Somebody who has logged in."),
    "commandLine": _place("header", CLI_HEADER, "The token of this machine's command line."),
    "bearer": {"type": "http", "scheme": "bearer", "description": "A gateway key."},
    "apiKey": _place("header", "x-api-key", "A gateway key."),
    "altApiKey": _place("header", "x-alt-api-key", "A gateway key."),
    "queryKey": _place("query", "key", "A gateway key."),
}


def security_of(access: Access) -> list[dict[str, list[str]]]:
    """The credentials of which one is enough; an empty one where a local caller needs none."""
    rule = RULES[access]
    if rule.anyone:
        return []
    takes_key = rule.key or access is Access.SURFACE
    names = [
        *(["session"] if rule.session else []),
        *(["commandLine"] if rule.cli else []),
        *(KEYS if takes_key else ()),
    ]
    needed: list[dict[str, list[str]]] = [{name: []} for name in names]
    return [*needed, *([{}] if rule.local else [])]
