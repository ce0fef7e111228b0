"""Calls of custom tools by vendors that know only functions.

Such a vendor got a function with one text argument in place of the tool; the
client that declared the tool wants the text itself.
"""

from collections.abc import Iterable

import msgspec

from gateway_core import Tool

from .._dialect import BROKEN

_texts = msgspec.json.Decoder(dict[str, str])


def custom_names(tools: Iterable[Tool]) -> frozenset[str]:
    return frozenset(tool.name for tool in tools if tool.custom)


def unwrap(arguments: str) -> str:
    """The only text among the arguments; arguments of another shape as they are."""
    try:
        texts = _texts.decode(arguments)
    except BROKEN:
        return arguments
    return next(iter(texts.values())) if len(texts) == 1 else arguments
