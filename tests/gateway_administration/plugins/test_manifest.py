"""The provider manifest: every rule of an entry."""

from typing import Any

import msgspec
import pytest
from manifest_specs import FLOW, build_url, spec
from parametrize_ids import parametrize_id

from gateway_administration.plugins.manifest import document
from gateway_core import Auth, Kind, Model


class Carrier:
    def __init__(self, name: str) -> None:
        self.name = name

    def __repr__(self) -> str:
        return f"Carrier({self.name})"

    async def send(self, request: Any, credential: Any, transport: Any) -> Any: ...


def entry(**fields: Any) -> dict[str, Any]:
    """The one entry of a manifest, as a client would read it."""
    reported = msgspec.json.decode(document([spec(**fields)]))
    only: dict[str, Any] = reported["providers"][0]
    return only


def test_the_smallest_entry_holds_the_required_members_only() -> None:
    assert entry() == {
        "id": "acme",
        "format": "openai",
        "executor": "default",
        "auth": {"type": "apikey", "header": "Authorization"},
        "endpoints": {"baseUrl": "https://api.acme.example/v1"},
        "capabilities": ["apikey", "sidecar-candidate"],
        "models": [],
        "sidecar": {"eligible": True, "reasons": []},
    }


def test_a_full_entry_holds_every_member_in_a_fixed_order() -> None:
    reported = entry(
        alias="ac",
        aliases=("acm", "acme-ai"),
        format="claude",
        base_urls=("https://a.example/v1", "https://b.example/v1"),
        responses_url="https://api.acme.example/v2",
        chat_path="/messages",
        models_url="https://api.acme.example/models",
        headers={"x-b": "2", "x-a": "1"},
        url_suffix="?beta=true",
        timeout_ms=30_000,
        auth=Auth(header="x-acme-key", prefix="Key"),
        passthrough_models=True,
        default_context=128_000,
        models=(Model("m"),),
    )

    assert reported == {
        "id": "acme",
        "alias": "ac",
        "aliases": ["acm", "acme-ai"],
        "format": "claude",
        "executor": "default",
        "auth": {"type": "apikey", "header": "x-acme-key", "prefix": "Key"},
        "endpoints": {
            "baseUrl": "https://api.acme.example/v1",
            "baseUrls": ["https://a.example/v1", "https://b.example/v1"],
            "responsesBaseUrl": "https://api.acme.example/v2",
            "chatPath": "/messages",
            "modelsUrl": "https://api.acme.example/models",
            "headers": {"x-a": "1", "x-b": "2"},
            "urlSuffix": "?beta=true",
        },
        "capabilities": ["apikey", "passthrough-models", "responses", "sidecar-candidate"],
        "passthroughModels": True,
        "defaultContextLength": 128_000,
        "timeoutMs": 30_000,
        "models": [{"id": "m"}],
        "sidecar": {"eligible": True, "reasons": []},
    }
    assert list(reported) == [
        *("id", "alias", "aliases", "format", "executor", "auth", "endpoints", "capabilities"),
        *("passthroughModels", "defaultContextLength", "timeoutMs", "models", "sidecar"),
    ]


@pytest.mark.parametrize(
    ("fields", "auth_type"),
    [
        ({}, "apikey"),
        ({"oauth": FLOW}, "oauth"),
        ({"auth": Auth(type="apikey"), "oauth": FLOW}, "apikey"),
        ({"auth": Auth(type="none")}, "none"),
        ({"auth": Auth(type="optional")}, "optional"),
        ({"auth": Auth(type="cookie")}, "cookie"),
        ({"auth": Auth(type="oauth")}, "oauth"),
    ],
    ids=parametrize_id,
)
def test_the_auth_type_is_what_is_said_then_oauth_then_apikey(
    fields: dict[str, Any], auth_type: str
) -> None:
    assert entry(**fields)["auth"]["type"] == auth_type


@pytest.mark.parametrize(
    ("format", "auth", "expected"),
    [
        ("openai", Auth(), {"header": "Authorization"}),
        ("gemini", Auth(), {"header": "Authorization"}),
        ("claude", Auth(), {"header": "x-api-key"}),
        ("claude", Auth(header="x-own"), {"header": "x-own"}),
        ("openai", Auth(scheme="bearer"), {"header": "Authorization", "prefix": "Bearer"}),
        (
            "openai",
            Auth(scheme="bearer", prefix="Token"),
            {"header": "Authorization", "prefix": "Bearer"},
        ),
        (
            "openai",
            Auth(scheme="raw", prefix="Token"),
            {"header": "Authorization", "prefix": "Token"},
        ),
        ("openai", Auth(header="x-own", scheme="raw"), {"header": "x-own"}),
    ],
    ids=parametrize_id,
)
def test_the_auth_header_and_prefix(format: str, auth: Auth, expected: dict[str, str]) -> None:
    assert entry(format=format, auth=auth)["auth"] == {"type": "apikey", **expected}


@pytest.mark.parametrize(
    ("fields", "tags"),
    [
        ({}, ["apikey", "sidecar-candidate"]),
        ({"auth": Auth(type="none")}, ["sidecar-candidate"]),
        ({"auth": Auth(type="optional")}, ["sidecar-candidate"]),
        ({"auth": Auth(type="cookie")}, []),
        ({"auth": Auth(type="oauth")}, ["oauth"]),
        ({"oauth": FLOW}, ["oauth"]),
        ({"auth": Auth(type="apikey"), "oauth": FLOW}, ["apikey", "oauth"]),
        ({"responses_url": "https://r.example"}, ["apikey", "responses", "sidecar-candidate"]),
        ({"passthrough_models": True}, ["apikey", "passthrough-models", "sidecar-candidate"]),
        ({"executor": Carrier("sigv4")}, ["apikey", "custom-executor"]),
        ({"executor": Carrier("default")}, ["apikey", "sidecar-candidate"]),
        ({"base_url": None}, ["apikey"]),
    ],
    ids=parametrize_id,
)
def test_capabilities_are_a_sorted_set_of_tags(fields: dict[str, Any], tags: list[str]) -> None:
    assert entry(**fields)["capabilities"] == tags


@pytest.mark.parametrize(
    ("fields", "reasons"),
    [
        ({"executor": Carrier("sigv4")}, ["custom executor: sigv4"]),
        ({"executor": Carrier("default")}, []),
        ({"auth": Auth(type="apikey")}, []),
        ({"auth": Auth(type="optional")}, []),
        ({"auth": Auth(type="none")}, []),
        ({"auth": Auth(type="cookie")}, ["auth type requires JS handling: cookie"]),
        ({"base_url": None}, ["no static upstream endpoint"]),
        ({"base_url": None, "base_urls": ("https://a.example",)}, []),
        ({"base_url": None, "responses_url": "https://a.example"}, []),
        ({"base_url": "https://{region}.a.example"}, ["templated URL requires JS handling"]),
        ({"base_urls": ("https://{r}.a.example",)}, ["templated URL requires JS handling"]),
        ({"responses_url": "https://{r}.a.example"}, ["templated URL requires JS handling"]),
        ({"base_url": "https://a.example/{"}, []),
        ({"url_builder": build_url}, ["dynamic URL builder"]),
        ({"oauth": FLOW, "auth": Auth(type="apikey")}, ["oauth metadata"]),
        ({"oauth": FLOW}, ["auth type requires JS handling: oauth", "oauth metadata"]),
        ({"pool": {"size": 3}}, ["session pool config"]),
        ({"pool": {}}, ["session pool config"]),
        ({"format": "gemini"}, ["Gemini endpoint constructed at dispatch"]),
        ({"format": "gemini-tts"}, ["Gemini endpoint constructed at dispatch"]),
        ({"format": "gemini-stt"}, ["Gemini endpoint constructed at dispatch"]),
        ({"format": "gemini-cli"}, []),
    ],
    ids=parametrize_id,
)
def test_why_a_sidecar_cannot_serve_a_provider(fields: dict[str, Any], reasons: list[str]) -> None:
    reported = entry(**fields)

    assert reported["sidecar"] == {"eligible": not reasons, "reasons": reasons}
    assert ("sidecar-candidate" in reported["capabilities"]) is (not reasons)


def test_reasons_come_in_the_order_of_the_interface() -> None:
    reported = entry(
        executor=Carrier("grpc"),
        auth=Auth(type="system"),
        base_url="https://{region}.a.example",
        url_builder=build_url,
        oauth=FLOW,
        pool={"size": 3},
        format="gemini",
    )

    assert reported["sidecar"]["reasons"] == [
        "custom executor: grpc",
        "auth type requires JS handling: system",
        "templated URL requires JS handling",
        "dynamic URL builder",
        "oauth metadata",
        "session pool config",
        "Gemini endpoint constructed at dispatch",
    ]


@pytest.mark.parametrize(
    ("model", "row"),
    [
        (Model("m"), {"id": "m"}),
        (
            Model("m", tools=False, reasoning=False, vision=False),
            {
                "id": "m",
                "toolCalling": False,
                "supportsReasoning": False,
                "supportsVision": False,
            },
        ),
        (
            Model(
                "m",
                name="M",
                kind=Kind.IMAGE_TO_TEXT,
                context=8192,
                max_output=1024,
                tools=True,
                reasoning=True,
                vision=True,
                unsupported=("top_p", "seed"),
                format="claude",
            ),
            {
                "id": "m",
                "name": "M",
                "contextLength": 8192,
                "maxOutputTokens": 1024,
                "toolCalling": True,
                "supportsReasoning": True,
                "supportsVision": True,
                "unsupportedParams": ["top_p", "seed"],
                "targetFormat": "claude",
                "kind": "image-to-text",
            },
        ),
    ],
    ids=["bare", "denials", "full"],
)
def test_a_model_row_tells_what_is_known_and_nothing_else(
    model: Model, row: dict[str, Any]
) -> None:
    assert entry(models=(model,))["models"] == [row]


def test_models_keep_the_order_of_the_plugin() -> None:
    rows = entry(models=(Model("z"), Model("a"), Model("z", kind=Kind.SPEECH)))["models"]

    assert rows == [{"id": "z"}, {"id": "a"}, {"id": "z", "kind": "tts"}]
