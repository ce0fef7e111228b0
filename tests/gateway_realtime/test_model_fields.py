"""Models in events: found where they are declared, and renamed without touching anything else."""

import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from gateway_realtime.model_fields import find_models, rename, tree_of

TREE = tree_of(("model", "session.model", "session.tools[].model", "session.audio.input.model"))

plain = st.recursive(
    st.none()
    | st.booleans()
    | st.integers()
    | st.floats(allow_nan=False, allow_infinity=False)
    | st.text(),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(), inner, max_size=3),
    max_leaves=8,
)
name = st.text(min_size=1)


@st.composite
def events(draw):
    """An event, and the models in it by their places."""
    tools = draw(st.lists(name, max_size=3))
    named = {"model": draw(name), "session.model": draw(name)}
    session = {
        "x": draw(plain),
        "model": named["session.model"],
        "tools": [{"type": draw(plain), "model": each} for each in tools],
        "audio": draw(plain.filter(lambda value: not isinstance(value, dict))),
    }
    event = {"type": draw(plain), "session": session, "model": named["model"], "Ünd": draw(plain)}
    found = [("session.model", named["session.model"])]
    found += [("session.tools[].model", each) for each in tools]
    found += [("model", named["model"])]
    indent = draw(st.sampled_from([None, 1, "\t"]))
    ensure_ascii = draw(st.booleans())
    return json.dumps(event, indent=indent, ensure_ascii=ensure_ascii), found


@given(events())
def test_every_declared_place_is_found(event):
    text, found = event
    assert [(each.field, each.name) for each in find_models(text, TREE)] == found


def without(text):
    """The text with nothing in the places of its models."""
    for model in reversed(find_models(text, TREE)):
        text = text[: model.start] + text[model.end :]
    return text


@given(events())
def test_only_the_names_change(event):
    text, _ = event
    models = find_models(text, TREE)

    assert rename(text, models, str) is text
    renamed = rename(text, models, lambda each: f"p/{each}")

    assert [each.name for each in find_models(renamed, TREE)] == [f"p/{m.name}" for m in models]
    back = rename(renamed, find_models(renamed, TREE), lambda each: each.removeprefix("p/"))
    assert json.loads(back) == json.loads(text)
    assert without(renamed) == without(text)


@pytest.mark.parametrize(
    "text",
    [
        '{"model":"a","model":"b"}',
        '{"model":"a","MODEL":"b"}',
        '{"model":"a","mo\\u0064el":"b"}',
        '{"session":{"model":"a"},"session":{}}',
        '{"session":{"tools":[{"model":"a","model":"b"}]}}',
    ],
)
def test_a_choice_is_refused(text):
    with pytest.raises(ValueError, match="Ambiguous"):
        find_models(text, TREE)


@pytest.mark.parametrize("text", ["", "{", "[]", '"model"', "{}x", '{"a":NaN}', "[" * 100_000])
def test_what_is_no_object_is_refused(text):
    with pytest.raises(ValueError, match="Invalid JSON"):
        find_models(text, TREE)


@pytest.mark.parametrize(
    "text",
    ['{"model":7}', '{"session":"model"}', '{"other":{"model":"a"}}', '{"session":{"tools":{}}}'],
)
def test_a_model_elsewhere_is_none(text):
    assert find_models(text, TREE) == []


def test_a_name_is_read_with_its_escapes():
    (model,) = find_models('{"model":"a\\u002fb"}', TREE)

    assert model.name == "a/b"
