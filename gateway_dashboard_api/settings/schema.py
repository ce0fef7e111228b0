"""The settings document's types for the API description, built from the declared settings.

Members that are not declared pass through both ways.
"""

from collections.abc import Iterable
from typing import Any, Union

import msgspec
from msgspec import UNSET, Struct, UnsetType

from gateway_core.config.settings import traits

from .document import PASSWORD, derive

Field = tuple[str, Any, Any]


def _may(kind: Any, *others: Any) -> Any:
    """Return the type of an optional member."""
    return Union[(kind, UnsetType, *others)]


def _shape(name: str, docstring: str, fields: Iterable[Field]) -> type[Struct]:
    return msgspec.defstruct(
        name,
        fields,
        namespace={"__doc__": docstring},
        module=__name__,
        frozen=True,
        kw_only=True,
        rename="camel",
    )


SettingsChange = _shape(
    "SettingsChange",
    "What is to be different; ``null`` brings a setting's default back.",
    (
        # ``null`` brings the default back.
        *((one.field, _may(one.type, None), UNSET) for one in traits().values() if one.patch),
        *((name, _may(str), UNSET) for name in PASSWORD),
    ),
)
SettingsDocument = _shape(
    "SettingsDocument",
    "The settings in force, as far as the caller may see them, and what follows from them.",
    (
        *((one.field, _may(one.type), UNSET) for one in traits().values() if not one.never),
        *((name, _may(type(value)), UNSET) for name, value in derive({}, {}).items()),
    ),
)
