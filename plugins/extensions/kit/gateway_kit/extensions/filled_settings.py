"""Settings with a value where the default has none, so that a plugin does what it is for."""

import re
from typing import Any

import msgspec
from msgspec.structs import fields

WORD = "thylacine"
"""What is put there."""
_LEFT_EMPTY = re.compile(
    "url|host|address|path|file|folder|dir|endpoint|key|secret|token|bucket|model|email"
)
"""Names of settings that mean places or credentials, which no word can stand for."""
_CANDIDATES: tuple[Any, ...] = (WORD, [WORD], {WORD: "possum"})


def fill_settings(settings: Any) -> Any:
    """The settings with words and lists of words; ``None`` where none can be filled in."""
    if settings is None:
        return None
    values, is_filled = msgspec.to_builtins(settings), False
    for field in fields(settings):
        name = field.encode_name
        if values.get(name) or values.get(name) in (0, False) or _LEFT_EMPTY.search(name.lower()):
            continue
        for candidate in _CANDIDATES:
            changed = {**values, name: candidate}
            if _fits(changed, type(settings)):
                values, is_filled = changed, True
                break
    return msgspec.convert(values, type(settings)) if is_filled else None


def _fits(values: Any, kind: type) -> bool:
    try:
        msgspec.convert(values, kind)
    except msgspec.ValidationError:
        return False
    return True
