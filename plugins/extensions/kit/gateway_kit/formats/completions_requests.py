"""What clients of the text completions ask for.

https://platform.openai.com/docs/api-reference/completions
"""

from typing import Any

from .asked import ASKED, SAMPLED

_QUESTION: dict[str, Any] = {"model": "kit-model", "prompt": "a question"}
_SAMPLED = {
    name: {**_QUESTION, name: list(value) if isinstance(value, tuple) else value}
    for name, value in SAMPLED.items()
    if name != "top_k"
}
BODIES: dict[str, dict[str, Any] | None] = {
    **dict.fromkeys(ASKED),
    "question": _QUESTION,
    "stream": {**_QUESTION, "stream": True},
    "user": {**_QUESTION, "user": "user-1"},
    "unknown member": {**_QUESTION, "kit_unknown": "kept"},
    **_SAMPLED,
}
