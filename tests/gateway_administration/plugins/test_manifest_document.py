"""The manifest as a document: the same bytes every time, no secret, and where it is found."""

import random
from collections.abc import Mapping

import msgspec
import pytest
from hypothesis import given
from hypothesis import strategies as st
from manifest_specs import FLOW, build_url, spec

from gateway_administration.plugins.manifest import Manifest, document
from gateway_core import Kind, Model, ProviderSpec


def test_the_document_names_its_version_and_origin_and_is_sorted_by_id() -> None:
    reported = msgspec.json.decode(document(spec(id=id) for id in ("b", "a-b", "a", "0")))

    assert list(reported) == ["schemaVersion", "generatedFrom", "providers"]
    assert reported["schemaVersion"] == 1
    assert reported["generatedFrom"] == "open-sse/providers/registry"
    assert [each["id"] for each in reported["providers"]] == ["0", "a", "a-b", "b"]


@pytest.mark.parametrize(
    ("given", "text"), [(30_000, b"30000"), (30_000.0, b"30000"), (1500.5, b"1500.5")]
)
def test_a_timeout_is_written_as_plainly_as_it_can(given: float, text: bytes) -> None:
    assert b'"timeoutMs":' + text + b"," in document([spec(timeout_ms=given)])


def test_nothing_of_a_login_flow_a_url_builder_or_a_pool_gets_out() -> None:
    pool = {"hidden-pool": 3}

    reported = document(
        [spec(oauth=FLOW, url_builder=build_url, pool=pool, environment=("HIDDEN",))]
    )

    for secret in (b"hidden", b"HIDDEN", b"login.acme.example", b"build_url"):
        assert secret not in reported


def test_the_document_can_be_read_back_by_its_own_types() -> None:
    reported = msgspec.json.decode(document([spec(models=(Model("m"),))]), type=Manifest)

    assert reported.schema_version == 1
    assert reported.providers[0].models[0].id == "m"


words = st.text("abcdefghij", min_size=1, max_size=8)
kinds = st.sampled_from(list(Kind))
flags = st.none() | st.booleans()
models = st.builds(
    Model,
    words,
    name=st.none() | words,
    kind=kinds,
    tools=flags,
    context=st.none() | st.integers(1, 1 << 40),
)
mappings = st.dictionaries(words, words, max_size=4)
providers = st.builds(
    ProviderSpec,
    id=words,
    name=words,
    alias=st.none() | words,
    format=st.sampled_from(["openai", "claude", "gemini"]),
    base_url=st.none() | words.map("https://{}.example".format),
    headers=mappings,
    oauth=st.none() | st.just(FLOW),
    models=st.lists(models, max_size=4).map(tuple),
    timeout_ms=st.none() | st.floats(1, 1e6),
)
manifests = st.lists(providers, max_size=6, unique_by=lambda spec: spec.id)


@given(manifests, st.randoms(use_true_random=False))
def test_the_bytes_do_not_depend_on_the_order_of_registration(
    specs: list[ProviderSpec], chance: random.Random
) -> None:
    shuffled = [_shuffled_headers(spec, chance) for spec in specs]
    chance.shuffle(shuffled)

    assert document(shuffled) == document(specs)


def _shuffled_headers(spec: ProviderSpec, chance: random.Random) -> ProviderSpec:
    items = list(spec.headers.items())
    chance.shuffle(items)
    headers: Mapping[str, str] = dict(items)
    return msgspec.structs.replace(spec, headers=headers)


@given(manifests)
def test_every_manifest_is_one_that_clients_accept(specs: list[ProviderSpec]) -> None:
    reported = msgspec.json.decode(document(specs))

    assert reported["schemaVersion"] == 1
    assert isinstance(reported["providers"], list)
    for each in reported["providers"]:
        assert each["sidecar"]["eligible"] is (each["sidecar"]["reasons"] == [])
        assert each["capabilities"] == sorted(set(each["capabilities"]))
        assert None not in each.values()
        assert None not in each["endpoints"].values()
