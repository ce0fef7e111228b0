"""Sessions: what is signed, what is refused, and where the secret comes from."""

import base64
import logging
from pathlib import Path
from typing import Any

import msgspec
import pytest
from joserfc import jwt
from joserfc.jwk import OctKey

from gateway_core.config.data_dir import DataDir
from gateway_core.config.environment import from_environ
from gateway_core.identity.caller import Session
from gateway_core.identity.sessions import LIFETIME, NoSecret, Sessions, id_of, jwt_secret

SECRET = "a secret of at least thirty-two bytes"
NOW = 1_800_000_000.0
SOUND = {"authenticated": True, "iat": int(NOW), "exp": int(NOW) + LIFETIME}


class House:
    """A gateway's epoch, its clock, and who has signed out."""

    def __init__(self) -> None:
        self.epoch: str | None = None
        self.now = NOW
        self.ended: set[str] = set()
        self.sessions = Sessions(SECRET, lambda: self.epoch, lambda: self.now, lambda: self.ended)


@pytest.fixture
def house() -> House:
    return House()


def signed(
    claims: dict[str, Any], *, secret: str = SECRET, algorithm: str = "HS256", **header: Any
) -> str:
    key = OctKey.import_key(secret.encode())
    return jwt.encode({"alg": algorithm, **header}, claims, key, algorithms=[algorithm])


def claims_of(token: str) -> dict[str, Any]:
    body = token.split(".")[1]
    decoded = msgspec.json.decode(base64.urlsafe_b64decode(body + "=" * (-len(body) % 4)))
    assert isinstance(decoded, dict)
    return decoded


def test_a_session_lasts_a_day(house: House) -> None:
    token = house.sessions.issue()

    assert house.sessions.read(token) == Session(expires_at=int(NOW) + LIFETIME, id=id_of(token))
    house.now += LIFETIME - 1
    assert house.sessions.read(token) is not None
    house.now += 1
    assert house.sessions.read(token) is None


def test_a_token_says_what_the_interface_names(house: House) -> None:
    house.epoch = "e1"

    plain = claims_of(house.sessions.issue())
    by_oidc = claims_of(house.sessions.issue(method="oidc", name="Ada", email="a@b.example"))

    assert plain == {**SOUND, "jti": plain["jti"], "passwordSessionEpoch": "e1"}
    assert by_oidc == {
        **SOUND,
        "jti": by_oidc["jti"],
        "passwordSessionEpoch": "e1",
        "oidc": True,
        "oidcName": "Ada",
        "oidcEmail": "a@b.example",
    }


def test_who_came_by_oidc_is_known_by_name(house: House) -> None:
    token = house.sessions.issue(method="oidc", name="Ada", email="a@b.example")

    session = house.sessions.read(token)

    assert session is not None
    assert (session.method, session.name, session.email) == ("oidc", "Ada", "a@b.example")


def test_a_long_name_still_fits_into_a_token(house: House) -> None:
    token = house.sessions.issue(method="oidc", name="ä" * 10_000, email="b" * 10_000)

    assert house.sessions.read(token) is not None


@pytest.mark.parametrize("first", [None, "old"])
def test_another_epoch_ends_every_session_also_one_that_was_just_read(
    house: House, first: str | None
) -> None:
    house.epoch = first
    token = house.sessions.issue()
    assert house.sessions.read(token) is not None

    house.epoch = "new"

    assert house.sessions.read(token) is None


def test_a_session_that_was_ended_is_over_and_one_of_the_same_second_goes_on(house: House) -> None:
    first, second = house.sessions.issue(), house.sessions.issue()
    session = house.sessions.read(first)
    assert session is not None

    house.ended.add(session.id)

    assert house.sessions.read(first) is None
    assert house.sessions.read(second) is not None


def test_another_signature_makes_no_other_session(house: House) -> None:
    token = house.sessions.issue()

    assert id_of(token[:-3]) == id_of(token)
    assert id_of(house.sessions.issue()) != id_of(token)


def test_a_token_of_an_older_version_can_be_ended_too(house: House) -> None:
    token = signed(SOUND)
    assert house.sessions.read(token) is not None

    house.ended.add(id_of(token))

    assert house.sessions.read(token) is None


def without(name: str) -> dict[str, Any]:
    return {key: value for key, value in SOUND.items() if key != name}


REFUSED = {
    "another secret": signed(SOUND, secret="b" * 40),
    "another algorithm": signed(SOUND, algorithm="HS512"),
    "no expiry": signed(without("exp")),
    "no time of issue": signed(without("iat")),
    "an expiry that is no time": signed({**SOUND, "exp": "tomorrow"}),
    "an expiry that is a boolean": signed({**SOUND, "exp": True}),
    "nobody authenticated": signed(without("authenticated")),
    "a truth that is only likely": signed({**SOUND, "authenticated": 1}),
    "from the future": signed({**SOUND, "iat": int(NOW) + 3600}),
    "expired": signed({**SOUND, "exp": int(NOW)}),
    "a critical header": signed(SOUND, crit=["b64"], b64=True),
    "too long": signed({**SOUND, "more": "x" * 4096}),
    "rubbish": "a.b.c",
    "nothing": "",
    "not even text of a token": "é\x00",
}


@pytest.mark.parametrize("token", REFUSED.values(), ids=REFUSED.keys())
def test_a_token_that_is_not_ours_is_nobody(house: House, token: str) -> None:
    assert house.sessions.read(signed(SOUND)) is not None

    assert house.sessions.read(token) is None


def test_an_unsigned_token_is_nobody(house: House) -> None:
    head = base64.urlsafe_b64encode(b'{"alg":"none"}').rstrip(b"=").decode()
    body = house.sessions.issue().split(".")[1]

    assert house.sessions.read(f"{head}.{body}.") is None


def test_a_token_with_one_letter_changed_is_nobody(house: House) -> None:
    token = house.sessions.issue()
    house.sessions.read(token)
    place = token.index(".") + 5
    other = "A" if token[place] != "A" else "B"

    assert house.sessions.read(token[:place] + other + token[place + 1 :]) is None


def test_without_a_secret_nothing_is_signed_and_nobody_is_known() -> None:
    sessions = Sessions(None, lambda: None, lambda: NOW)

    assert sessions.read(signed(SOUND)) is None
    with pytest.raises(NoSecret, match="JWT_SECRET"):
        sessions.issue()
    with pytest.raises(NoSecret, match="32 bytes"):
        sessions.check_ready()


def secret_of(folder: Path, variable: str = "") -> str | None:
    return jwt_secret(from_environ({"JWT_SECRET": variable}), DataDir(folder))


def test_the_variable_counts_before_the_file(
    tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    DataDir(tmp_path).write("jwt-secret", b"file " * 10)

    assert secret_of(tmp_path, SECRET) == SECRET
    assert caplog.records == []


def test_an_older_installations_file_counts_with_a_warning(
    tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    DataDir(tmp_path).write("jwt-secret", f"{SECRET}\n".encode())

    assert secret_of(tmp_path) == SECRET
    assert "set JWT_SECRET" in caplog.text
    assert SECRET not in caplog.text


def test_a_secret_is_never_made(tmp_path: Path) -> None:
    assert secret_of(tmp_path) is None
    assert not (tmp_path / "jwt-secret").exists()


@pytest.mark.parametrize(
    "bad",
    [
        "replace-me",
        "  Your-Secret ",
        "CHANGE_ME",
        "change-me-to-a-random-text-of-forty-characters",
        '"your-jwt-secret-change-this-in-production"',
        "x" * 31,
    ],
)
def test_a_placeholder_or_a_short_secret_is_ignored_with_a_warning(
    tmp_path: Path, caplog: pytest.LogCaptureFixture, bad: str
) -> None:
    with caplog.at_level(logging.WARNING):
        found = secret_of(tmp_path, bad)

    assert found is None
    assert "JWT_SECRET" in caplog.text
    assert bad.strip() not in caplog.text
