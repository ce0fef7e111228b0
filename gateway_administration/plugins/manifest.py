"""The provider manifest: a pure function of the registered providers.

Sidecars read it to serve simple vendors themselves. Nothing secret can leave:
of a login flow, a URL builder and a session pool it says only that they
are there. Field order is that of the structs below and providers are sorted
by id, so equal providers always give equal bytes.

The interface fixes two rules by the name of a format, so this module names them. The conformance
kit reads entries too.
"""

import re
from collections.abc import Iterable, Mapping

import msgspec
from msgspec import Struct

from gateway_core.contracts.kinds import Kind
from gateway_core.contracts.provider import ProviderSpec

SCHEMA_VERSION = 1
GENERATED_FROM = "open-sse/providers/registry"
DEFAULT_EXECUTOR = "default"

X_API_KEY_FORMAT = "claude"
BUILT_AT_DISPATCH = frozenset({"gemini", "gemini-tts", "gemini-stt"})
SIDECAR_AUTH = frozenset({"apikey", "optional", "none"})

_template = re.compile(r"\{[^}]*\}")
_encode = msgspec.json.Encoder().encode


class AuthEntry(Struct, frozen=True, kw_only=True, omit_defaults=True):
    """How a key rides on a request."""

    type: str
    header: str
    prefix: str | None = None


class ManifestEndpoints(Struct, frozen=True, kw_only=True, omit_defaults=True, rename="camel"):
    """The static URLs and headers."""

    base_url: str | None = None
    base_urls: tuple[str, ...] = ()
    responses_base_url: str | None = None
    chat_path: str | None = None
    models_url: str | None = None
    headers: Mapping[str, str] = {}
    url_suffix: str | None = None


class ModelEntry(Struct, frozen=True, kw_only=True, omit_defaults=True, rename="camel"):
    """One model; what is not known is not there. A chat model has no kind."""

    id: str
    name: str | None = None
    context_length: int | None = None
    max_output_tokens: int | None = None
    tool_calling: bool | None = None
    supports_reasoning: bool | None = None
    supports_vision: bool | None = None
    unsupported_params: tuple[str, ...] = ()
    target_format: str | None = None
    kind: str | None = None


class Sidecar(Struct, frozen=True, kw_only=True):
    """Whether a sidecar can serve the provider, and why not."""

    eligible: bool
    reasons: tuple[str, ...]


class ManifestEntry(Struct, frozen=True, kw_only=True, omit_defaults=True, rename="camel"):
    """One provider."""

    id: str
    alias: str | None = None
    aliases: tuple[str, ...] = ()
    format: str
    executor: str
    auth: AuthEntry
    endpoints: ManifestEndpoints
    capabilities: tuple[str, ...]
    passthrough_models: bool = False
    default_context_length: int | None = None
    timeout_ms: int | float | None = None
    models: tuple[ModelEntry, ...]
    sidecar: Sidecar


class Manifest(Struct, frozen=True, kw_only=True, rename="camel"):
    """The whole document."""

    schema_version: int = SCHEMA_VERSION
    generated_from: str = GENERATED_FROM
    providers: tuple[ManifestEntry, ...]


def document(specs: Iterable[ProviderSpec]) -> bytes:
    """The manifest as JSON."""
    entries = tuple(entry(spec) for spec in sorted(specs, key=lambda spec: spec.id))
    return _encode(Manifest(providers=entries))


def entry(spec: ProviderSpec) -> ManifestEntry:
    """What the manifest says of one provider."""
    reasons = sidecar_reasons(spec)
    auth = auth_type(spec)
    tags = {
        "apikey": auth == "apikey",
        "oauth": spec.oauth is not None or auth == "oauth",
        "responses": spec.responses_url is not None,
        "passthrough-models": spec.passthrough_models,
        "custom-executor": _executor(spec) != DEFAULT_EXECUTOR,
        "sidecar-candidate": not reasons,
    }
    usual_header = "x-api-key" if spec.format == X_API_KEY_FORMAT else "Authorization"
    timeout = spec.timeout_ms
    if timeout is not None and float(timeout).is_integer():
        timeout = int(timeout)  # Other writers of JSON put a whole number without ``.0``.
    return ManifestEntry(
        id=spec.id,
        alias=spec.alias,
        aliases=spec.aliases,
        format=spec.format,
        executor=_executor(spec),
        auth=AuthEntry(
            type=auth,
            header=spec.auth.header or usual_header,
            prefix="Bearer" if spec.auth.scheme == "bearer" else spec.auth.prefix,
        ),
        endpoints=ManifestEndpoints(
            base_url=spec.base_url,
            base_urls=spec.base_urls,
            responses_base_url=spec.responses_url,
            chat_path=spec.chat_path,
            models_url=spec.models_url,
            headers=dict(sorted(spec.headers.items())),
            url_suffix=spec.url_suffix,
        ),
        capabilities=tuple(sorted(tag for tag, holds in tags.items() if holds)),
        passthrough_models=spec.passthrough_models,
        default_context_length=spec.default_context,
        timeout_ms=timeout,
        models=tuple(
            ModelEntry(
                id=model.id,
                name=model.name,
                context_length=model.context,
                max_output_tokens=model.max_output,
                tool_calling=model.tools,
                supports_reasoning=model.reasoning,
                supports_vision=model.vision,
                unsupported_params=model.unsupported,
                target_format=model.format,
                kind=None if model.kind == Kind.LLM else str(model.kind),
            )
            for model in spec.models
        ),
        sidecar=Sidecar(eligible=not reasons, reasons=reasons),
    )


def auth_type(spec: ProviderSpec) -> str:
    """How accounts are proven: what the provider says, else by whether it has a login flow."""
    return spec.auth.type or ("oauth" if spec.oauth else "apikey")


def sidecar_reasons(spec: ProviderSpec) -> tuple[str, ...]:
    """Why a sidecar cannot serve this provider; empty when it can."""
    urls = [url for url in (spec.base_url, *spec.base_urls, spec.responses_url) if url]
    auth = auth_type(spec)
    checks = (
        (_executor(spec) != DEFAULT_EXECUTOR, f"custom executor: {_executor(spec)}"),
        (auth not in SIDECAR_AUTH, f"auth type requires JS handling: {auth}"),
        (not urls, "no static upstream endpoint"),
        (any(map(_template.search, urls)), "templated URL requires JS handling"),
        (spec.url_builder is not None, "dynamic URL builder"),
        (spec.oauth is not None, "oauth metadata"),
        (spec.pool is not None, "session pool config"),
        (spec.format in BUILT_AT_DISPATCH, "Gemini endpoint constructed at dispatch"),
    )
    return tuple(reason for holds, reason in checks if holds)


def _executor(spec: ProviderSpec) -> str:
    return spec.executor.name if spec.executor else DEFAULT_EXECUTOR
