"""What the translator answers."""

from typing import Any

from msgspec import Struct


class Translated(Struct, frozen=True, kw_only=True):
    """Step 1 tells the formats, step 2 the body, step 3 the whole request without secrets."""

    success: bool
    result: dict[str, Any]


class Logs(Struct, frozen=True, kw_only=True):
    success: bool
    logs: tuple[str, ...]


class Content(Struct, frozen=True, kw_only=True):
    success: bool
    content: str
