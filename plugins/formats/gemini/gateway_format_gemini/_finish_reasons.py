"""Why an answer ended: the vendor's words and the hub's."""

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


def word(said: str | int) -> str:
    return _NUMBERS.get(said, "OTHER") if isinstance(said, int) else said


def read_finish(said: str, called: bool) -> Finish:
    """``called`` tells whether the answer holds a tool call.

    A call to a function that was not declared is still a call: its client
    can say so, and the model tries again. Every other word means failure.
    """
    if called and said in ("STOP", "UNEXPECTED_TOOL_CALL"):
        return "tool_calls"
    return _READ.get(said, "error")


def write_finish(finish: Finish) -> str:
    return _WRITTEN[finish]
