"""Hypothesis strategies for the messages format."""

from typing import Any

import msgspec
from gateway_format_claude import CLAUDE
from hypothesis import HealthCheck, settings
from hypothesis import strategies as st
from msgspec import Raw

from gateway_core import Call, Kind, Model, ProviderSpec, Target

assert CLAUDE.client is not None
assert CLAUDE.vendor is not None
CLIENT, VENDOR = CLAUDE.client, CLAUDE.vendor

QUICK = settings(
    max_examples=120,
    deadline=None,
    derandomize=True,
    suppress_health_check=[HealthCheck.too_slow, HealthCheck.data_too_large],
)


def target(model: str = "claude-sonnet-4-0", **options: Any) -> Target:
    provider = ProviderSpec(id="anthropic", name="A", format="claude", options=options)
    return Target(provider, Model(model))


def call_of(body: bytes) -> Call:
    members = msgspec.json.decode(body, type=dict[str, Raw])
    return Call(kind=Kind.LLM, format="claude", model="", stream=False, body=body, members=members)


def raw(value: Any) -> Raw:
    return Raw(msgspec.json.encode(value))


words = st.text(st.characters(codec="utf-8"), min_size=1, max_size=12).filter(str.strip)
ids = st.from_regex(r"[a-zA-Z0-9_-]{1,8}", fullmatch=True)
jsons = st.recursive(
    st.none() | st.booleans() | st.integers(-9, 9) | words,
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(words, inner, max_size=3),
    max_leaves=5,
)
