"""An account at a provider, as a value, and the ways to make and change one."""

from collections.abc import Mapping
from typing import Any

from msgspec import UNSET, Struct, UnsetType

from ...contracts.errors import Conflict
from .secret_members import Document, is_secret, join, part

PROVIDER_DATA = "providerSpecificData"


class DuplicateConnection(Conflict):
    """A provider has a key connection of that name already."""

    code = "PROVIDER_CONNECTION_ALREADY_EXISTS"

    def __init__(self, provider: str, name: str | None) -> None:
        super().__init__(f"A connection named {name} already exists for provider {provider}")


class Connection(Struct, frozen=True, kw_only=True, rename="camel"):
    """One account. Secrets are apart from everything that may be shown."""

    id: str
    provider: str
    auth_type: str
    """``apikey``, ``oauth``, ``cookie``, ``none`` or another word."""
    name: str | None
    email: str | None
    priority: int
    """From 1, in order, within the provider."""
    is_active: bool
    data: Document = {}
    """Every other member but the secret ones."""
    secrets: Document = {}
    """The secret members, each in its place: ``apiKey``, ``accessToken`` and the like."""
    broken: bool = False
    """True when the secrets cannot be opened; the account is of no use until it is made anew."""
    created_at: str
    updated_at: str

    @property
    def provider_data(self) -> Mapping[str, Any]:
        """``providerSpecificData`` with its secret members."""
        return join(self.data.get(PROVIDER_DATA) or {}, self.secrets.get(PROVIDER_DATA) or {})

    def __rich_repr__(self) -> list[tuple[str, Any]]:
        shown = ("id", "provider", "auth_type", "priority", "is_active", "broken")
        return [(name, getattr(self, name)) for name in shown]

    def __repr__(self) -> str:
        return (
            f"Connection({', '.join(f'{name}={value!r}' for name, value in self.__rich_repr__())})"
        )


class NewConnection(Struct, frozen=True, kw_only=True, rename="camel"):
    """What a new account is made of."""

    provider: str
    auth_type: str = "apikey"
    name: str | None = None
    email: str | None = None
    priority: int | None = None
    """``None`` puts it behind the provider's others."""
    is_active: bool = True
    data: Document = {}
    """Every other member, the secret ones too."""

    def __repr__(self) -> str:
        return f"NewConnection({self.provider!r}, name={self.name!r})"


class ConnectionChange(Struct, frozen=True, kw_only=True, rename="camel"):
    """What is to be different; what is unset stays."""

    auth_type: str | UnsetType = UNSET
    name: str | UnsetType | None = UNSET
    email: str | UnsetType | None = UNSET
    priority: int | UnsetType = UNSET
    is_active: bool | UnsetType = UNSET
    data: Document = {}
    """Members to set, the secret ones too; ``None`` removes one. ``providerSpecificData``
    is merged member by member, anything else is replaced."""

    def __repr__(self) -> str:
        return f"ConnectionChange(members={sorted(self.data)})"


def changed(document: Document, changes: Document) -> Document:
    """The document with the changes of a ``ConnectionChange`` in it."""
    whole = dict(document)
    for name, value in changes.items():
        mine = whole.get(name)
        if name == PROVIDER_DATA and isinstance(mine, Mapping) and isinstance(value, Mapping):
            value = changed(mine, value)
        if value is None:
            whole.pop(name, None)
        else:
            whole[name] = value
    return whole


def shown_and_secret(document: Document) -> tuple[Document, Document]:
    """What an operator may see of a document, and what nobody does."""
    return part(document, is_secret)
