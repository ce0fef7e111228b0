"""Personal data: what has a checksum or a form that can be checked is checked."""

from functools import cache
from ipaddress import ip_address

from stdnum import iban, luhn

from .expressions import compiled
from .scanner import Detector

_LETTERS = b"0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz"
_DIGITS = b"0123456789"


def _card(text: str) -> int:
    digits = "".join(filter(str.isdigit, text))
    # No issuer's numbers begin with 0 (ISO/IEC 7812), and a row of one digit passes the check.
    is_card = digits[0] != "0" and len(set(digits)) > 1 and luhn.is_valid(digits)
    return len(text) if is_card else 0


def _iban(text: str) -> int:
    """The words behind an account's number may look like more of it."""
    head = int("".join(str(int(letter, 36)) for letter in text[:4]))
    rest, found = 0, 0
    for at, letter in enumerate(text[4:], 5):
        if letter == " ":
            continue
        value = int(letter, 36)
        # ISO 7064: the country and the check stand last, and letters for two digits. Computed on
        # the way, because each end may be the right one, and looking a country up takes time.
        rest = (rest * (10 if value < 10 else 100) + value) % 97
        if (rest * 1_000_000 + head) % 97 == 1 and iban.is_valid(text[:at], check_country=False):
            found = at
    return found


def _address(text: str) -> int:
    try:
        ip_address(text)
    except ValueError:
        return 0
    return len(text)


def _phone(text: str) -> int:
    digits = sum(map(str.isdigit, text))
    return len(text) if 8 <= digits <= 15 else 0  # ITU-T E.164, section 6.2.1


_DETECTORS = {
    "email": Detector(
        # RFC 5321, section 4.5.3.1: 64 characters before the @; a name in the DNS has 253.
        pattern=compiled(
            r"\b[A-Za-z0-9_][A-Za-z0-9._%+'-]{0,63}@(?:[A-Za-z0-9-]{1,63}\.){1,8}[A-Za-z]{2,24}\b"
        ),
        label="email",
        longest=320,
        alphabet=_LETTERS + b"._%+'-@",
    ),
    "phone": Detector(
        pattern=compiled(
            r"(?:\+|\b00)[1-9](?:[ ./()-]{0,2}[0-9]){7,14}\b"
            r"|\(\d{3}\) ?\d{3}[ .-]\d{4}\b|\b\d{3}[.-]\d{3}[.-]\d{4}\b"
            r"|\b0[1-9]\d{1,3}[ /-]\d{3,4}(?:[ -]?\d{2,4}){1,2}\b"
        ),
        label="phone",
        longest=64,
        alphabet=_DIGITS + b" ./()-+",
        measure=_phone,
    ),
    "iban": Detector(
        pattern=compiled(r"\b[A-Z]{2}\d{2}(?: ?[A-Z0-9]{4}){2,7}(?: ?[A-Z0-9]{1,3})?\b"),
        label="iban",
        longest=48,
        alphabet=b"0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZ ",
        measure=_iban,
    ),
    "card": Detector(
        pattern=compiled(
            r"\b\d{4}[ -]\d{4}[ -]\d{4}[ -]\d{1,7}\b|\b\d{4}[ -]\d{6}[ -]\d{4,5}\b|\b\d{13,19}\b"
        ),
        label="card",
        longest=32,
        alphabet=_DIGITS + b" -",
        measure=_card,
    ),
    "ip": Detector(
        pattern=compiled(
            r"\b\d{1,3}(?:\.\d{1,3}){3}\b|\b[0-9A-Fa-f]{1,4}(?::{1,2}[0-9A-Fa-f]{1,4}){1,7}\b"
        ),
        label="ip",
        longest=48,
        alphabet=b"0123456789ABCDEFabcdef:.",
        measure=_address,
    ),
}


@cache
def personal(kinds: tuple[str, ...]) -> tuple[Detector, ...]:
    """What finds these kinds; all where there are none."""
    return tuple(_DETECTORS[kind] for kind in kinds or _DETECTORS)
