"""The fault menu: each way in which a vendor may disappoint, by name."""

from msgspec import Struct

from . import faulty_answers
from .answer import MockAnswer
from .quirks import ODD
from .refusals import REFUSALS, FaultFunction
from .server import MockResponse


class Fault(Struct, frozen=True):
    """``apply`` gives the spoiled answer; its number is a byte, a size or seconds, 0 for usual."""

    name: str
    description: str
    apply: FaultFunction


class UnknownFault(ValueError):
    """No fault of the menu has this name."""


_SPOILED: dict[str, tuple[str, FaultFunction]] = {
    "slow": ("the first byte comes after N seconds (5)", faulty_answers.slow),
    "cut": ("the connection breaks at byte N (half of the answer)", faulty_answers.cut),
    "stall": ("nothing comes after byte N (half of the answer)", faulty_answers.stall),
    "split": ("pieces of N bytes (1), through characters and frames", faulty_answers.split),
    "broken-json": ("a frame, or the whole answer, is no JSON", faulty_answers.broken_json),
    "error-in-200": ("an error where the answer should be", faulty_answers.error_in_200),
    "error-mid-stream": ("the stream fails in a frame of its own", faulty_answers.error_mid_stream),
    "usage-missing": ("no usage is reported", faulty_answers.without_usage),
    "usage-wrong": ("more cached tokens than input tokens", faulty_answers.wrong_usage),
    "usage-late": ("usage comes after the end marker", faulty_answers.late_usage),
    "usage-repeated": ("usage comes twice", faulty_answers.repeated("usage")),
    "finish-twice": ("the finish comes twice", faulty_answers.repeated("finish")),
    "no-end": ("no end marker", faulty_answers.without_end),
    "comments": ("keep-alive comments between frames", faulty_answers.comments),
    "crlf": ("lines end with CR LF", faulty_answers.crlf),
    "bom": ("a byte order mark first", faulty_answers.bom),
    "quota-headers": ("headers tell what is left of a quota", faulty_answers.quota_headers),
}
_ALL = {**_SPOILED, **REFUSALS, **ODD}
MENU = {
    name: Fault(name, description, apply_fault) for name, (description, apply_fault) in _ALL.items()
}


def apply_fault(scene: MockAnswer, order: str) -> MockResponse:
    """The answer with a fault, ordered as ``name`` or ``name:number``. Raises UnknownFault."""
    name, _, number = order.partition(":")
    if name not in MENU or (number and not number.isdecimal()):
        raise UnknownFault(f"there is no fault {order!r}; there are {', '.join(MENU)}")
    return MENU[name].apply(scene, int(number or 0))
