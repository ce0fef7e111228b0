"""Ids of files and batches."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from gateway_core.contracts.errors import BadRequest
from gateway_files.ids import SortableIds, check_id, is_id


def test_ids_sort_as_they_were_made_also_when_the_clock_is_set_back() -> None:
    now = [1_700_000_000.0]
    ids = SortableIds(lambda: now[0])

    made = [ids.new("file") for _ in range(3)]
    now[0] -= 3600
    made += [ids.new("file") for _ in range(3)]
    now[0] += 7200
    made.append(ids.new("file"))

    assert made == sorted(set(made))
    assert all(is_id(id) for id in made)


@pytest.mark.parametrize("prefix", ["file", "batch", "msgbatch"])
def test_an_id_has_a_prefix_and_24_digits(prefix: str) -> None:
    id = SortableIds(lambda: 1_700_000_000.0).new(prefix)

    assert id.startswith(f"{prefix}_")
    assert check_id(id) == id


WRONG = (
    *("", "file_", "file_123", "..", "../../etc/passwd", "file_" + "0" * 23, "file_" + "0" * 25),
    *("file_" + "A" * 24, "file_" + "g" * 24, "files_" + "0" * 24, " file_" + "0" * 24),
    *("file_" + "0" * 24 + "\n", "file_" + "\u0660" * 24, "file-" + "0" * 24, ".parts"),
    *("file_" + "0" * 20 + "/../", "file_" + "0" * 23 + "\x00", "FILE_" + "0" * 24),
)


@pytest.mark.parametrize("text", WRONG)
def test_another_shape_is_no_id(text: str) -> None:
    with pytest.raises(BadRequest, match=r"^invalid id$"):
        check_id(text)


@given(st.text())
def test_no_text_that_counts_as_an_id_has_a_slash_or_a_dot(text: str) -> None:
    assert not is_id(text) or not set(text) & set("./\\\x00\n")
