"""The name that reaches a vendor is the name that policies, switches, limits and prices saw."""

import re
from collections.abc import Iterator
from itertools import product
from typing import Any
from urllib.parse import unquote, urlsplit

import msgspec
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from plugin_folders import ACCOUNTS, QUESTIONS, SECRET, folders, registry_of

from gateway_core import Call, Credential, Kind, ProviderSpec, Target, Usage
from gateway_core.config.settings import Settings
from gateway_core.contracts.errors import BadRequest, GatewayError
from gateway_core.identity.keys import Key
from gateway_core.identity.policy import read
from gateway_core.metering.prices import Prices
from gateway_core.pipeline.json_body import members_of
from gateway_core.pipeline.translation import Translation
from gateway_core.plugins.registry import Registry, with_providers
from gateway_core.routing.access_policy import allows
from gateway_core.routing.model_resolver import resolve
from gateway_core.routing.snapshot import ConfigSnapshot
from gateway_core.routing.snapshot_loader import node_spec
from gateway_core.storage.stores.nodes import Node

PROBE = "probe-name"
PIECES = (
    *("m", "gemini-2.5-pro", "M", ".", "..", "...", "", " ", "models", "Models", "%2e%2e", "%2F"),
    *("a b", " a", "a ", "a?b", "a#b", "a\\b", "a;b", "a:b", "a%", "\u00a0", "\u200b", "\x00", "é"),
    *("openai", "gpt-5:nitro", "x:generateContent", "arn:aws:bedrock:eu-west-1::m", "[1m]"),
)
names = st.lists(st.sampled_from(PIECES) | st.text(max_size=4), min_size=1, max_size=4).map(
    "/".join
)
FURTHER_DATA: dict[str, tuple[dict[str, Any], ...]] = {
    "azure-openai": (
        {"apiVersion": "2024-10-21"},
        {"deployment": "mine"},
        {"deployment": "mine", "apiVersion": "2024-10-21"},
    ),
    "vertex": ({"baseUrl": "https://proxy.example/v1"},),
}
NODES = ("openai", "claude", "gemini", "ollama")


def node(type_: str) -> ProviderSpec:
    """An operator's own endpoint of a format."""
    [folder] = [each for each in folders("format") if each.id == type_]
    spec = node_spec(
        Node(
            id=f"{type_}-node",
            type=f"{type_}-compatible",
            name="Mine",
            prefix="mine",
            base_url="https://mine.example/v1",
            created_at="",
            updated_at="",
        ),
        registry_of(folder).formats,
    )
    assert spec is not None
    return spec


def vendors() -> Iterator[tuple[Registry, ProviderSpec]]:
    for folder in folders("provider"):
        registry = registry_of(folder)
        for id, plugin in registry.provider_plugins.items():
            if plugin == folder.key:
                yield registry, registry.providers[id]
    for spec in map(node, NODES):
        yield with_providers(registry_of(folders("format")[0]), [spec]), spec


VENDORS = {spec.id: (registry, spec) for registry, spec in vendors()}


def snapshot_of(registry: Registry, spec: ProviderSpec, **fields: Any) -> ConfigSnapshot:
    usual = {"hidden": frozenset(), "models": {spec.id: spec.models}}
    return ConfigSnapshot(
        registry=registry,
        settings=Settings(),
        accounts={},
        combos={},
        aliases={},
        versions={},
        **{**usual, **fields},
    )


def outgoing(
    registry: Registry, target: Target, client: str, stream: bool, data: dict[str, Any]
) -> tuple[str, str | None]:
    """The URL of the request for a client's call, and the model that its body names."""
    body = msgspec.json.encode({"model": "as the client wrote it", **QUESTIONS[client]})
    call = Call(
        kind=Kind.LLM,
        format=client,
        model="as the client wrote it",
        stream=stream,
        body=body,
        members=members_of(body),
    )
    account = Credential(
        connection_id="a", secret=SECRET, data={**ACCOUNTS.get(target.provider.id, {}), **data}
    )
    exchange = Translation(call, registry.formats).open(target, account)
    name = msgspec.json.decode(exchange.request.body).get("model")
    wire = registry.formats[exchange.upstream_format]
    return exchange.request.url, name and name.removeprefix(wire.model_prefix)


def named(registry: Registry, target: Target, *way: Any) -> set[str]:
    """Every name of a model in a request, read as its vendor reads it."""
    probe = Target(target.provider, msgspec.structs.replace(target.model, id=PROBE))
    (url, name), (usual, usual_name) = (outgoing(registry, t, *way) for t in (target, probe))
    # A server may decode and simplify a path in any of these ways before it looks for the model.
    path = unquote(urlsplit(url).path)
    if (target.provider.chat_path or "").endswith("/"):
        path = path.removesuffix("/")
    assert not {"", ".", ".."} & set(path.split("/")[1:]), url
    read = set() if name is None else {name}
    assert usual_name in (name and PROBE, name)
    if PROBE not in usual:
        assert url == usual
        return read
    before, _, after = usual.partition(PROBE)
    assert url.startswith(before), url
    assert url.endswith(after), url
    return read | {unquote(url[len(before) : len(url) - len(after)])}


@pytest.mark.parametrize("vendor", VENDORS)
@settings(max_examples=60, deadline=None, suppress_health_check=[HealthCheck.too_slow])
@given(name=names, prefix=st.booleans(), pick=st.randoms(use_true_random=False))
def test_a_vendor_sees_the_name_that_everything_else_saw(
    vendor: str, name: str, prefix: bool, pick: Any
) -> None:
    registry, spec = VENDORS[vendor]
    requested = f"{spec.alias or spec.id if prefix else spec.id}/{name}"
    decorated = pick.random() < 0.5
    try:
        resolved = resolve(snapshot_of(registry, spec), requested, decorated=decorated)
    except GatewayError:
        return
    target = resolved.target
    assert target is not None
    ways = list(product(sorted(QUESTIONS), (False, True), ({}, *FURTHER_DATA.get(spec.id, ()))))
    for way in pick.sample(ways, min(4, len(ways))):
        try:
            seen = named(registry, target, *way)
        except GatewayError:
            continue
        assert seen == {target.model.id}

    sent = target.model.id
    assert simplified(sent) == sent
    if "*" not in sent and len(sent) < 200:
        denied = key_that_denies(f"{spec.id}/{sent}")
        assert not allows(denied, target, resolved.name)
    hidden = frozenset({(spec.id, sent.casefold())})
    with pytest.raises(BadRequest, match="disabled"):
        resolve(snapshot_of(registry, spec, hidden=hidden), requested, decorated=decorated)
    prices = Prices()
    prices.replace({spec.id: {sent: {"input": 7, "output": 0}}})
    assert prices.cost(target, Usage(input_tokens=1)) == (0 if spec.free else 7)


def simplified(name: str) -> str:
    """A name after all that a lenient vendor may do to it."""
    text = re.split(r"[?#;]", unquote(name).replace("\\", "/"))[0]
    return "/".join(each.strip() for each in text.split("/") if each.strip() not in ("", ".", ".."))


def key_that_denies(pattern: str) -> Key:
    return Key(
        id="k",
        name="k",
        digest=b"",
        is_active=True,
        expires_at=None,
        allowed_combos=frozenset(),
        policy=read({"modelAccess": {"mode": "deny", "patterns": [pattern]}}),
        connections=frozenset(),
        has_limits=False,
        is_restricted=True,
    )
