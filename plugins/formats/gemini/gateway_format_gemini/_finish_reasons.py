"""Why an answer ended: the vendor's reasons and the hub's.

https://ai.google.dev/api/generate-content#FinishReason
"""

from gateway_core import Finish

_NUMBERS = {
    0: "FINISH_REASON_UNSPECIFIED",
    1: "STOP",
    2: "MAX_TOKENS",
    3: "SAFETY",
    4: "RECITATION",
    5: "OTHER",
    6: "LANGUAGE",
    7: "BLOCKLIST",
    8: "PROHIBITED_CONTENT",
    9: "SPII",
    10: "MALFORMED_FUNCTION_CALL",
    11: "IMAGE_SAFETY",
}
"""Some gateways of the vendor's give enum values as numbers."""

_READ: dict[str, Finish] = {
    "STOP": "stop",
    "MAX_TOKENS": "length",
    "CONTINUATION": "length",
    "TOO_MANY_TOOL_CALLS": "pause",
    **dict.fromkeys(
        (
            "SAFETY",
            "RECITATION",
            "LANGUAGE",
            "BLOCKLIST",
            "PROHIBITED_CONTENT",
            "SPII",
            "IMAGE_SAFETY",
            "IMAGE_PROHIBITED_CONTENT",
            "IMAGE_RECITATION",
            "MODEL_ARMOR",
            "ESCALATION",
            "PUP_LIMITED_DISABLED",
        ),
        "content_filter",
    ),
}

_WRITTEN: dict[Finish, str] = {
    "stop": "STOP",
    "length": "MAX_TOKENS",
    "tool_calls": "STOP",
    "content_filter": "SAFETY",
    "refusal": "SAFETY",
    # Both stand for a server-side tool loop that stopped before the answer was whole.
    "pause": "TOO_MANY_TOOL_CALLS",
    "error": "OTHER",
}


def read_reason(value: str | int) -> str:
    """The name of a reason that may have come as its number."""
    return _NUMBERS.get(value, "OTHER") if isinstance(value, int) else value


def read_finish(reason: str, has_calls: bool) -> Finish:
    """``has_calls`` tells whether the answer holds a tool call. Unknown reasons are failures."""
    # A call to a function that was not declared is still a call: its client can say so, and the
    # model tries again.
    if has_calls and reason in ("STOP", "UNEXPECTED_TOOL_CALL"):
        return "tool_calls"
    return _READ.get(reason, "error")


def write_finish(finish: Finish) -> str:
    return _WRITTEN[finish]
