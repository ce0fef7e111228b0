"""The second factor: codes of an app, backup codes, and what an app is told."""

import base64
import hmac
from urllib.parse import parse_qs, unquote, urlsplit

import bcrypt
import pyotp
import pytest
from hypothesis import given
from hypothesis import strategies as st

from gateway_dashboard_api.login import codes

SECRET = "JBSWY3DPEHPK3PXPJBSWY3DPEHPK3PXP"
NOW = 1_800_000_000.0
STEP = int(NOW // 30)


def code_at(step: int) -> str:
    return pyotp.TOTP(SECRET).generate_otp(step)


@pytest.mark.parametrize("drift", [-1, 0, 1])
def test_a_code_of_a_step_nearby_is_accepted(drift: int) -> None:
    assert codes.accepted_step(SECRET, code_at(STEP + drift), NOW, None) == STEP + drift


@pytest.mark.parametrize("drift", [-2, 2])
def test_a_code_of_a_step_further_off_is_not(drift: int) -> None:
    assert codes.accepted_step(SECRET, code_at(STEP + drift), NOW, None) is None


@given(st.integers(-1, 1), st.integers(-3, 3))
def test_a_step_at_or_below_the_last_is_refused(drift: int, last: int) -> None:
    found = codes.accepted_step(SECRET, code_at(STEP + drift), NOW, STEP + last)

    assert found == (STEP + drift if drift > last else None)


@pytest.mark.parametrize("code", ["", "12345", "1234567", "abcdef", "１２３４５６", "12 34 56"])
def test_other_texts_are_no_codes_of_an_app(code: str) -> None:
    assert not codes.is_totp(code)


@pytest.mark.parametrize("secret", ["", "JBSWY3DP", "not base32!"])
def test_no_code_is_right_for_what_is_no_secret(secret: str) -> None:
    known = hotp(b"" if not secret else b"Hello", STEP)

    assert codes.accepted_step(secret, known, NOW, None) is None


def hotp(key: bytes, counter: int) -> str:
    """RFC 4226, by hand."""
    digest = hmac.digest(key, counter.to_bytes(8, "big"), "sha1")
    place = digest[-1] & 15
    number = int.from_bytes(digest[place : place + 4], "big") & 0x7FFFFFFF
    return f"{number % 1_000_000:06}"


def test_codes_are_those_of_the_standard() -> None:
    key = base64.b32decode(SECRET)

    assert codes.accepted_step(SECRET, hotp(key, STEP), NOW, None) == STEP


def test_an_app_is_told_everything_it_needs() -> None:
    parts = urlsplit(codes.enrolment_uri(SECRET))

    assert (parts.scheme, parts.netloc) == ("otpauth", "totp")
    assert unquote(parts.path) == "/Model Gateway:admin"
    assert parse_qs(parts.query) == {
        "secret": [SECRET],
        "issuer": ["Model Gateway"],
        "algorithm": ["SHA1"],
        "digits": ["6"],
        "period": ["30"],
    }
    assert "+" not in parts.query


def test_the_picture_is_an_svg() -> None:
    assert codes.qr_code(codes.enrolment_uri(SECRET)).startswith("data:image/svg+xml")


def test_secrets_are_160_bits_and_differ() -> None:
    made = {codes.new_secret() for _ in range(50)}

    assert len(made) == 50
    assert all(codes.is_secret(secret) for secret in made)
    assert not codes.is_secret("JBSWY3DP")
    assert not codes.is_secret(SECRET.lower())


def test_ten_backup_codes_of_at_least_fifty_bits() -> None:
    made = codes.new_backup_codes()

    assert len(set(made)) == 10
    assert all(len(code.replace("-", "")) * 5 >= 50 for code in made)
    assert not any(codes.is_totp(code) for code in made)


def test_a_backup_code_is_found_however_it_is_typed() -> None:
    plain = "abcdefghijkm"
    other, mine = (
        bcrypt.hashpw(text.encode(), bcrypt.gensalt(4)).decode() for text in ("x" * 12, plain)
    )

    for typed in ("abcd-efgh-ijkm", " ABCD efgh IJKM ", plain):
        assert codes.matching_hash(typed, (other, mine)) == mine
    for wrong in ("abcd-efgh-ijkn", "abcd", "", "abcd-efgh-ijkm-n"):
        assert codes.matching_hash(wrong, (other, mine)) is None


def test_hashes_cost_what_they_should() -> None:
    (stored,) = codes.hash_backup_codes(["abcd-efgh-ijkm"])

    assert stored.startswith("$2b$10$")
    assert codes.matching_hash("abcd-efgh-ijkm", [stored]) == stored
