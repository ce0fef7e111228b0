"""How one stored setting is declared, and who may see and change it."""

from collections.abc import Mapping
from typing import Any, Literal, get_type_hints

from msgspec import NODEFAULT, Meta, Struct
from msgspec.structs import fields


class Trait(Struct, frozen=True, kw_only=True):
    """What is known of one setting besides its value."""

    key: str
    """The name in the document and on the wire."""
    field: str
    description: str
    type: Any
    default: Any
    session_only: bool = False
    """Shown to a session or the command line, not to an API key."""
    never: bool = False
    """Shown to nobody."""
    patch: bool = True
    """False when PATCH drops it: another route changes it."""
    operator: bool = False
    """Changed by a session, the command line or the open dashboard, not by an API key."""
    mask: Literal["url"] | None = None
    """How an API key sees it."""
    sealed: str | None = None
    """The purpose it is encrypted for at rest."""
    is_called: bool = False
    """An address that the gateway sends requests to."""


def setting(
    about: str,
    *,
    session_only: bool = False,
    never: bool = False,
    patch: bool = True,
    operator: bool = False,
    mask: Literal["url"] | None = None,
    sealed: str | None = None,
    is_called: bool = False,
) -> Meta:
    """Declare a setting: what it does, who sees it, who changes it, how it is kept."""
    traits = {
        "session_only": session_only,
        "never": never,
        "patch": patch,
        "operator": operator,
        "mask": mask,
        "sealed": sealed,
        "is_called": is_called,
    }
    return Meta(description=about, extra=traits)


def declared(owner: type[Struct]) -> Mapping[str, Trait]:
    """The settings a struct declares, by key, in its own order."""
    hints = get_type_hints(owner, include_extras=True)
    traits = {}
    for field in fields(owner):
        hint = hints[field.name]
        meta = next((m for m in getattr(hint, "__metadata__", ()) if m.extra is not None), None)
        if meta is None:
            continue
        default = field.default if field.default is not NODEFAULT else field.default_factory()
        traits[field.encode_name] = Trait(
            key=field.encode_name,
            field=field.name,
            description=meta.description,
            type=hint,
            default=default,
            **meta.extra,
        )
    return traits
