"""Reading files: bounded, strict, and with the line in every refusal."""

import io
import time
import tracemalloc
from pathlib import Path

import pytest
from gateway_extension_config.documents import FileRefused, read_document, write_document
from gateway_extension_config.references import resolve, variable_of
from hypothesis import given, settings
from hypothesis import strategies as st

BOMB = "a: &a [x, x]\n" + "".join(
    f"{chr(98 + n)}: &{chr(98 + n)} [{', '.join([f'*{chr(97 + n)}'] * 9)}]\n" for n in range(20)
)
HOSTILE = {
    "aliases": (BOMB.encode(), "the file:1: anchors and aliases are not read"),
    "merge": (b"a: {<<: {b: 1}}", "the file:1: members are not merged"),
    "tag": (b"a: 1\nb: !!python/object/apply:os.system [ls]", "the file:2: the tag tag:yaml.org"),
    "large": (b"a: " + b"x" * 50_000_000, "the file: the file is larger than 1024 KiB"),
    "deep": (b"a: " + b"[" * 100_000, "the file:1: "),
    "many": (b"[" + b"1," * 200_000 + b"1]", "the file:1: the file has more than 50000 values"),
    "keys": (b"? [a, b]\n: 1", "the file:1: the name of a member has to be plain text"),
    "twice": (b"a: 1\n\na: 2", "the file:3: a is here twice"),
    "documents": (b"a: 1\n---\nb: 2", "the file:2: a file has one document"),
    "binary": (b"a: \x00\x01", "the file: this is no YAML: "),
    "latin": (b"a: \xff\xfe\xfd", "the file: this is no YAML: "),
    "broken": (b"a: 1\n]", "the file:2: "),
    "infinite": (b"a: 1e999", "the file:1: 1e999 is too large"),
}


@pytest.mark.parametrize("name", HOSTILE)
def test_a_hostile_file_is_refused_with_bounded_memory_and_time(name: str) -> None:
    text, message = HOSTILE[name]
    stream = io.BytesIO(text)
    tracemalloc.start()
    began = time.process_time()

    with pytest.raises(FileRefused) as refused:
        read_document(stream)

    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert str(refused.value).startswith(message)
    assert peak < 100 * 1024 * 1024
    assert time.process_time() - began < 10


def test_words_are_read_as_yaml_1_2_has_them() -> None:
    read = read_document(io.BytesIO(b"[no, on, 12:30, 0x1f, ~, 'true', true, -1, 2.5, 2031-05-06]"))

    assert read.value == [
        *("no", "on", "12:30", "0x1f", None, "true", True, -1, 2.5),
        "2031-05-06",
    ]


texts = st.text(st.characters(codec="utf-8", exclude_categories=["Cs", "Cc"]), max_size=20)
values = st.recursive(
    st.none() | st.booleans() | st.integers(-(10**30), 10**30) | texts | st.floats(-1e9, 1e9),
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(texts, inner, max_size=4),
    max_leaves=12,
)


@settings(max_examples=40, deadline=None)
@given(value=values)
def test_what_is_written_is_read_as_the_same(value: object) -> None:
    tree = {"a": value}
    if "<<" in repr(value) or "\x85" in repr(value):
        return

    assert read_document(io.BytesIO(write_document(tree).encode())).value == tree


def test_references_are_followed_and_what_is_missing_is_listed(tmp_path: Path) -> None:
    (tmp_path / "key").write_text("from a file\n")
    text = b"a: ${env:ONE}/${file:key}\nb: $${env:ONE}\nc: ['${env:TWO}', '${file:none}']\n"
    document = read_document(io.BytesIO(text))

    resolved = resolve(document, {"ONE": "1"}, tmp_path)

    assert resolved.value["a"] == "1/from a file"
    assert resolved.value["b"] == "${env:ONE}"
    assert resolved.references == {("a",), ("c", 0), ("c", 1)}
    assert dict(resolved.missing) == {
        ("c", 0): ("the environment variable TWO is not set",),
        ("c", 1): ("there is no file none",),
    }


@pytest.mark.parametrize(
    "text", ["${TWO}", "${env:}", "${env:A B}", "${", "${vault:x}", "${file:}"]
)
def test_a_reference_that_is_none_is_refused(text: str) -> None:
    document = read_document(io.BytesIO(f"a:\n- '{text}'".encode()))

    with pytest.raises(FileRefused, match=r"the file:2: a reference is \$\{env:NAME\}"):
        resolve(document, {}, Path())


def test_an_endless_file_is_no_secret() -> None:
    document = read_document(io.BytesIO(b"a: ${file:/dev/zero}"))

    resolved = resolve(document, {}, Path())

    assert resolved.missing == {("a",): ("there is no file /dev/zero",)}


def test_names_of_variables_are_made_of_words() -> None:
    assert variable_of("openai", "my work", "apiKey") == "OPENAI_MY_WORK_API_KEY"
    assert variable_of("360ai", "apiKey") == "_360AI_API_KEY"
    assert variable_of("ключ") == "SECRET"
