"""The stores' SQL in PostgreSQL's dialect."""

import pytest

from gateway_postgres.dialect import translate


@pytest.mark.parametrize(
    ("sql", "translated", "names"),
    [
        ("SELECT :a, :b, :a", "SELECT $1, $2, $1", ("a", "b")),
        ("VALUES (?, ?)", "VALUES ($1, $2)", (0, 1)),
        ("VALUES (?3, ?1, ?3)", "VALUES ($1, $2, $1)", (2, 0)),
        ("SELECT ':no', 'it''s :no', \"a?\", x::text", None, ()),
        ("-- of :one\nSELECT :two", "-- of :one\nSELECT $1", ("two",)),
        ("SELECT CAST(:by AS TEXT)", "SELECT CAST($1 AS TEXT)", ("by",)),
        ("-- TEXT\nCREATE TABLE t (a TEXT)", None, ()),
    ],
)
def test_parameters_are_numbered(sql: str, translated: str | None, names: object) -> None:
    statement = translate(sql)

    if translated is not None:
        assert statement.sql == translated
    assert statement.names == names


def test_what_is_no_parameter_stays() -> None:
    sql = "SELECT ':no', 'it''s :no', \"a?\", x::text"

    assert translate(sql).sql == sql


def test_texts_are_ordered_by_their_bytes() -> None:
    assert 'a TEXT COLLATE "C" NOT' in translate("CREATE TABLE t (a TEXT NOT NULL)").sql
    assert translate("ALTER TABLE t ADD COLUMN a TEXT").sql.endswith('a TEXT COLLATE "C"')


def test_values_are_picked_by_name_or_place() -> None:
    assert translate("SELECT :b, :a").pick({"a": 1, "b": 2}) == [2, 1]
    assert translate("SELECT ?2, ?1").pick(("x", "y")) == ["y", "x"]
    with pytest.raises(KeyError):
        translate("SELECT :a").pick({})
