"""Which language a text is in, with py3langid where it is installed."""

from collections.abc import Iterable
from functools import cache
from importlib.util import find_spec
from typing import Any

FEWEST = 40
"""Letters of a text in which a language can be told."""
ENOUGH = 400
"""Characters after which a stream's language is told."""
LONGEST = 4000
"""Characters of a text that are looked at."""
_CODES = (
    "af am an ar as az be bg bn br bs ca cs cy da de dz el en eo es et eu fa fi fo fr ga gl gu he "
    "hi hr ht hu hy id is it ja ka kk km kn ko ku ky la lb lo lt lv mg mk ml mn mr ms mt ne "
    "nl nn no oc or pa pl ps pt qu ro ru rw se si sk sl sq sr sv sw ta te th tl tr ug uk ur vi vo "
    "wa xh zh zu"
)
KNOWN = frozenset(_CODES.split())
"""What the detector tells apart."""


def check_known(languages: Iterable[str]) -> None:
    """Raises ValueError for codes that the detector does not know, and without a detector."""
    if find_spec("py3langid") is None:
        raise ValueError(
            "languages need a detector: install model-gateway-extension-guardrails[languages]"
        )
    unknown = sorted(set(languages) - KNOWN)
    if unknown:
        raise ValueError(f"no language is known by {', '.join(unknown)}")


def language_of(text: str) -> str | None:
    """The code of a text's language; ``None`` where it is too short to tell. The first time takes
    seconds."""
    text = text[:LONGEST]
    if sum(map(str.isalpha, text)) < FEWEST:
        return None
    return str(_detector()(text)[0])


@cache
def _detector() -> Any:
    # Only now: the model is unpacked for a second or two.
    from py3langid import classify, set_languages

    set_languages(sorted(KNOWN))
    return classify
