"""The kinds of models, in all the spellings that clients use."""

import re

from gateway_core.contracts.errors import BadRequest
from gateway_core.contracts.kinds import Kind

_OTHER_WORDS = {"webSearch": Kind.SEARCH, "webFetch": Kind.FETCH}
_KINDS = {kind.value: kind for kind in Kind}
_HUMP = re.compile(r"(?<=[a-z])(?=[A-Z])")


def kind_of(word: str | None) -> Kind:
    """Read ``image-to-text`` and ``imageToText`` alike; nothing means chat.

    Raises BadRequest for an unknown word.
    """
    if not word:
        return Kind.LLM
    if word in _OTHER_WORDS:
        return _OTHER_WORDS[word]
    kind = _KINDS.get(_HUMP.sub("-", word).lower())
    if kind is None:
        raise BadRequest(f"Invalid kind: {word[:64]}")
    return kind
