"""Texts that are to be JSON of a schema."""

from collections.abc import Mapping
from typing import Any

import msgspec
from jsonschema_rs import RegexOptions, Validator, validator_for


def validator(schema: Mapping[str, Any]) -> Validator:
    """Checks values by a schema of any draft; nothing is fetched. Raises ValueError."""
    try:
        # This engine's time is in proportion to the text, as is RE2's.
        return validator_for(dict(schema), retriever=_refuse, pattern_options=RegexOptions())
    except (ValueError, TypeError) as error:
        words = getattr(error, "message", None) or str(error)
        raise ValueError(f"the schema is refused: {words[:200]}") from None


def keeps_to(text: str, schema: Validator) -> bool:
    """Whether a text is JSON of the schema."""
    try:
        return bool(schema.is_valid(msgspec.json.decode(text)))
    except (ValueError, RecursionError):  # no JSON, or one that is nested too deep
        return False


def _refuse(address: str) -> Any:
    raise ValueError(f"{address} is not looked up")
