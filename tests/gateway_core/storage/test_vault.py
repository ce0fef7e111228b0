import pytest
from cryptography.hazmat.primitives.hashes import SHA256
from cryptography.hazmat.primitives.kdf.hkdf import HKDF
from hypothesis import given
from hypothesis import strategies as st

from gateway_core.storage.errors import SealBroken
from gateway_core.storage.vault import Vault

KEY = bytes(range(32))
SEAL = Vault(KEY).seal_for("credentials")
PLACE = {"table": "connections", "column": "secrets", "row": "1"}
texts = st.text(max_size=200)
names = st.text(max_size=20)


@given(texts, names, names, names)
def test_what_was_sealed_comes_back(text: str, table: str, column: str, row: str) -> None:
    sealed = SEAL.close(text, table=table, column=column, row=row)

    assert SEAL.open(sealed, table=table, column=column, row=row) == text


@given(texts)
def test_a_sealed_text_has_its_form(text: str) -> None:
    sealed = SEAL.close(text, **PLACE)

    version, _, body = sealed.partition(".")
    assert version == "v1"
    assert set(body) <= set("ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_")


def test_the_same_text_is_never_sealed_the_same_way() -> None:
    assert len({SEAL.close("secret", **PLACE) for _ in range(1000)}) == 1000


@given(texts, st.data())
def test_any_changed_character_is_refused(text: str, data: st.DataObject) -> None:
    sealed = SEAL.close(text, **PLACE)
    at = data.draw(st.integers(0, len(sealed) - 1))
    other = data.draw(st.characters().filter(lambda c: c != sealed[at]))

    with pytest.raises(SealBroken):
        SEAL.open(sealed[:at] + other + sealed[at + 1 :], **PLACE)


@given(texts, st.data())
def test_a_shortened_or_lengthened_text_is_refused(text: str, data: st.DataObject) -> None:
    sealed = SEAL.close(text, **PLACE)
    cut = data.draw(st.integers(0, len(sealed) - 1))

    for altered in (sealed[:cut], sealed + "A", sealed + "=", sealed + "\n", f" {sealed}"):
        with pytest.raises(SealBroken):
            SEAL.open(altered, **PLACE)


@given(st.text(max_size=100))
def test_rubbish_is_refused(text: str) -> None:
    with pytest.raises(SealBroken):
        SEAL.open(text, **PLACE)


@given(st.tuples(names, names, names), st.tuples(names, names, names))
def test_a_text_opens_only_where_it_was_sealed(
    here: tuple[str, str, str], there: tuple[str, str, str]
) -> None:
    sealed = SEAL.close("secret", table=here[0], column=here[1], row=here[2])

    try:
        opened = SEAL.open(sealed, table=there[0], column=there[1], row=there[2])
    except SealBroken:
        assert here != there
    else:
        assert (here, opened) == (there, "secret")


def test_names_that_run_together_are_not_the_same_place() -> None:
    sealed = SEAL.close("secret", table="ab", column="c", row="d")

    with pytest.raises(SealBroken):
        SEAL.open(sealed, table="a", column="bc", row="d")


@pytest.mark.parametrize(
    "other",
    [Vault(KEY).seal_for("settings"), Vault(bytes(32)).seal_for("credentials")],
    ids=["another purpose", "another master key"],
)
def test_another_key_does_not_open_it(other: object) -> None:
    sealed = SEAL.close("secret", **PLACE)

    with pytest.raises(SealBroken):
        other.open(sealed, **PLACE)  # type: ignore[attr-defined]


def test_the_same_master_key_opens_it_in_another_process() -> None:
    sealed = Vault(KEY).seal_for("credentials").close("secret", **PLACE)

    assert Vault(KEY).seal_for("credentials").open(sealed, **PLACE) == "secret"


def test_the_nonce_comes_from_the_injected_source() -> None:
    seal = Vault(KEY, random=lambda size: b"\1" * size).seal_for("credentials")

    assert seal.close("a", **PLACE) == seal.close("a", **PLACE)


def test_a_short_master_key_is_refused() -> None:
    with pytest.raises(ValueError, match="32 bytes"):
        Vault(b"short")


def test_the_error_names_the_row_and_no_secret() -> None:
    sealed = SEAL.close("canary", **PLACE)

    with pytest.raises(SealBroken) as caught:
        SEAL.open(sealed, table="connections", column="secrets", row="2")

    assert caught.value.message.startswith("The stored secret of connections/2 cannot be opened.")
    assert "canary" not in str(caught.value)


@pytest.mark.parametrize("purpose", ["credentials", "key index", ""])
def test_the_key_of_a_purpose_is_that_of_rfc_5869(purpose: str) -> None:
    derivation = HKDF(SHA256(), 32, salt=None, info=f"gateway {purpose}".encode())

    assert Vault(KEY).key_for(purpose) == derivation.derive(KEY)
