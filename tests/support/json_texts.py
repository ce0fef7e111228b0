"""JSON in any spelling, for properties of code that edits its text."""

import json

from hypothesis import strategies as st

space = st.text(" \t\n\r", max_size=2)
scalars = st.one_of(
    st.sampled_from(
        ["0", "-0.0", "1e5", "1E+05", "1.50", "12345678901234567890", "true", "false", "null"]
    ),
    st.text(max_size=8).map(json.dumps),
    st.text(max_size=8).map(lambda text: json.dumps(text, ensure_ascii=False)),
    st.sampled_from(['"\\u006dodel"', '"\\/"', '"\\\\"', '"\\""', '"{"', '"]"', '"😀"']),
)
names = st.sampled_from(["a", "model", "tools", "requests", "params", "session", "prompt", "x y"])


@st.composite
def texts(draw: st.DrawFn, depth: int = 3) -> str:
    """JSON in any spelling, no member of an object twice."""
    shape = draw(st.sampled_from(["scalar", "object", "list"])) if depth else "scalar"
    if shape == "scalar":
        return draw(space) + draw(scalars) + draw(space)
    inner = texts(depth - 1)
    if shape == "list":
        return draw(space) + "[" + ",".join(draw(st.lists(inner, max_size=3))) + "]" + draw(space)
    return draw(space) + draw(objects(inner)) + draw(space)


@st.composite
def objects(draw: st.DrawFn, inner: st.SearchStrategy[str]) -> str:
    members = [
        f"{draw(space)}{json.dumps(name)}{draw(space)}:{draw(inner)}"
        for name in draw(st.lists(names, max_size=4, unique=True))
    ]
    return "{" + ",".join(members) + (draw(space) if not members else "") + "}"
