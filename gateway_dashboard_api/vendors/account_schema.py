"""The JSON Schema of what an account holds besides its key: ``providerSpecificData``."""

from collections.abc import Mapping
from typing import Any

from gateway_core.contracts.provider import AccountField, ProviderSpec
from gateway_core.storage.stores.secret_members import is_secret

from ..destinations import BASE_URL

DIALECT = "https://json-schema.org/draft/2020-12/schema"
Schema = Mapping[str, Any]


def account_schema(spec: ProviderSpec) -> Schema:
    """Describe the members that the vendor names, and the address that any account may have.

    Further members are accepted: a node's accounts and plugins store some of their own.
    """
    fields = {field.name: field for field in (_address(spec), *spec.account_fields)}
    needed = [field.name for field in fields.values() if field.needed]
    return {
        "$schema": DIALECT,
        "type": "object",
        "properties": {name: _property(field) for name, field in fields.items()},
        # An account with an address of its own needs nothing from which one is made.
        **({"anyOf": [{"required": needed}, {"required": [BASE_URL]}]} if needed else {}),
    }


def _address(spec: ProviderSpec) -> AccountField:
    usual = spec.base_url if spec.base_url and "{" not in spec.base_url else None
    return AccountField(
        name=BASE_URL,
        title="Base URL",
        about="Where calls go instead of the vendor's own address.",
        type="url",
        default=usual,
        examples=spec.base_urls,
    )


def _property(field: AccountField) -> Schema:
    described: dict[str, Any] = {"title": field.title}
    if field.about:
        described["description"] = field.about
    described["type"] = ["object", "string"] if field.type == "document" else "string"
    if field.type == "url":
        described["format"] = "uri"
    # JSON Schema validation 2020-12, section 9.4: such a member is never in an answer.
    if is_secret(field.name):
        described["writeOnly"] = True
    if field.default is not None:
        described["default"] = field.default
    if field.pattern is not None:
        described["pattern"] = field.pattern
    if field.examples:
        described["examples"] = list(field.examples)
    return described
