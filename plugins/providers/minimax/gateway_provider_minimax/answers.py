"""Answers with status 200 that are failures: the vendor says so in ``base_resp``.

Codes: https://platform.minimax.io/docs/api-reference/errorcode
"""

from typing import Any

from gateway_core import UpstreamError

STATUSES = {1002: 429, 1004: 401, 1008: 402, 1026: 400, 1027: 400, 1039: 429, 2013: 400, 2049: 401}
"""The vendor's codes as statuses; another one is the vendor's own failure."""


def checked(answer: Any) -> Any:
    """The answer. Raises UpstreamError where it is a failure."""
    outcome = answer.get("base_resp") or {}
    code = outcome.get("status_code") or 0
    if code:
        words = outcome.get("status_msg") or f"The upstream failed with code {code}"
        raise UpstreamError(words, status=STATUSES.get(code, 502), code=str(code))
    return answer
