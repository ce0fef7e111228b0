"""Regular expressions that take time in proportion to the text, whatever they are.

RE2 has no expression that backtracks (https://github.com/google/re2/wiki/WhyRE2), so no rule and no
text can stall the gateway's loop.
"""

from typing import Any

import re2

MOST_MEMORY = 8 << 20
"""Of one compiled expression, bytes."""
Expression = Any
"""A compiled one; the library has no types."""


def compiled(pattern: str, *, ignore_case: bool = False) -> Expression:
    """Raises ValueError, which says what is wrong with it."""
    options = re2.Options()
    options.max_mem, options.log_errors = MOST_MEMORY, False
    options.case_sensitive = not ignore_case
    try:
        return re2.compile(pattern, options)
    except (re2.error, UnicodeEncodeError) as error:
        reason = error.args[0] if isinstance(error, re2.error) else "it is no text"
        words = reason.decode(errors="replace") if isinstance(reason, bytes) else reason
        raise ValueError(f"pattern {pattern[:100]!r} is refused: {words}") from None
