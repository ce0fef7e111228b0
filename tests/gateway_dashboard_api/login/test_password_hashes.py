"""Which hashes of passwords are read."""

import bcrypt
import pytest

from gateway_dashboard_api.login.password_hashes import Passwords, is_outdated

GOOD = "correct horse battery"


@pytest.fixture
def anyio_backend() -> str:
    return "asyncio"


@pytest.mark.anyio
async def test_a_hash_knows_its_password_and_no_other() -> None:
    passwords = Passwords()

    stored = await passwords.hash(GOOD)

    assert stored.startswith("$argon2id$")
    assert not is_outdated(stored)
    assert await passwords.verify(stored, GOOD)
    assert not await passwords.verify(stored, GOOD + " ")


@pytest.mark.anyio
async def test_an_older_installations_hash_is_read_and_to_be_replaced() -> None:
    stored = bcrypt.hashpw(GOOD.encode(), bcrypt.gensalt(4)).decode()

    assert is_outdated(stored)
    assert await Passwords().verify(stored, GOOD)
    assert not await Passwords().verify(stored, "wrong horse")


@pytest.mark.anyio
async def test_a_long_password_is_compared_as_bcrypt_once_cut_it() -> None:
    stored = bcrypt.hashpw(b"a" * 72, bcrypt.gensalt(4)).decode()

    assert await Passwords().verify(stored, "a" * 100)


@pytest.mark.anyio
@pytest.mark.parametrize("stored", ["", "plain", "$2b$rubbish", "$argon2id$rubbish", GOOD])
async def test_a_damaged_hash_knows_nobody(stored: str) -> None:
    assert not await Passwords().verify(stored, GOOD)
    assert not await Passwords().verify(stored, stored)
