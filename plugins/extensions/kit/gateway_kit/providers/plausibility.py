"""Cases about declarations that are possible and still cannot be meant."""

from collections import Counter
from collections.abc import Iterator
from functools import cache
from ipaddress import ip_address
from urllib.parse import urlsplit

from gateway_core import Kind, Model, Price, ProviderSpec
from gateway_core.plugins.discovery import installed
from gateway_kit.case import Case, expect_none
from gateway_kit.hook_calls import call_hook

from .harness import ProviderHarness
from .subject import ProviderUnderTest

CONVERSATION = frozenset({"model", "stream", "messages", "contents", "input", "prompt"})
"""Members without which there is no request."""
CREDENTIALS = frozenset(
    {
        *("authorization", "proxy-authorization", "cookie", "x-api-key", "api-key", "x-auth-token"),
        *("content-type", "content-length", "host", "transfer-encoding", "accept-encoding"),
    }
)
LEAST_PRICE, MOST_PRICE = 0.001, 2_000.0
"""Dollars per million tokens; the dearest model that was ever listed cost 600."""
LEAST_WINDOW, MOST_WINDOW = 256, 50_000_000
LEAST_TIMEOUT = 1_000.0
"""Milliseconds until the first byte; models think for seconds."""


def plausibility_cases(subject: ProviderUnderTest) -> Iterator[Case]:
    spec = subject.spec
    checks = {
        "models": (
            "Give each model its own id once, a window in tokens, and prices in dollars per "
            "million tokens.",
            _model_faults,
        ),
        "contradictions": (
            "Do not drop what the models offer or what every request needs, and let Auth and the "
            "account bring all credentials.",
            _contradictions,
        ),
        "options": (
            "Set only options that the format declares, with values that it knows.",
            _option_faults,
        ),
        "claims": (
            "Claim only names, beginnings, variables and hosts that are the vendor's own.",
            _claim_faults,
        ),
    }
    for name, (advice, check) in checks.items():

        async def run(harness: ProviderHarness, check=check) -> None:  # type: ignore[no-untyped-def]
            expect_none(check(subject))

        yield Case(name=f"{spec.id}: plausible: {name}", advice=advice, run=run)


def _model_faults(subject: ProviderUnderTest) -> Iterator[str]:
    spec = subject.spec
    for id, count in Counter((model.id, model.kind) for model in spec.models).items():
        if count > 1:
            yield f"the model {id[0]} is there {count} times"
    for model in spec.models:
        if model.id.startswith(f"{spec.id}/") and not spec.passthrough_models:
            yield f"the id {model.id} begins with the provider's own"
        yield from _window_faults(model)
        if model.price is not None:
            yield from (f"{model.id}: {fault}" for fault in _price_faults(model.price))


def _window_faults(model: Model) -> Iterator[str]:
    if model.kind != Kind.LLM:
        return
    if model.context is not None and not LEAST_WINDOW <= model.context <= MOST_WINDOW:
        yield f"{model.id}: a window of {model.context} tokens"
    if model.max_output is not None and model.max_output < 1:
        yield f"{model.id}: answers of {model.max_output} tokens"
    if model.context and model.max_output and model.max_output > model.context:
        yield f"{model.id}: answers are longer than its window"


def _price_faults(price: Price) -> Iterator[str]:
    for name in ("input", "output", "cached", "cache_write", "reasoning"):
        value = getattr(price, name)
        if value and not LEAST_PRICE <= value <= MOST_PRICE:
            yield f"{value} dollars for a million tokens ({name})"
    if price.cached is not None and price.input and price.cached > price.input:
        yield "tokens from a cache cost more than others"


def _contradictions(subject: ProviderUnderTest) -> Iterator[str]:
    spec = subject.spec
    for name in sorted({*spec.drop, *spec.rename} & CONVERSATION):
        yield f"{name} is taken away, and every request needs it"
    for model in spec.models:
        taken = {*spec.drop, *model.unsupported}
        if model.kind == Kind.LLM and model.tools and "tools" in taken:
            yield f"{model.id} calls tools, and tools are taken away"
        for name in sorted(set(model.unsupported) & CONVERSATION):
            yield f"{model.id}: {name} is taken away, and every request needs it"
    for name in sorted(set(spec.headers) & CREDENTIALS):
        yield f"the header {name} is fixed"
    if spec.timeout_ms is not None and spec.timeout_ms < LEAST_TIMEOUT:
        yield f"a call is given up after {spec.timeout_ms:g} ms"
    if spec.calls_per_minute is not None and spec.calls_per_minute < 1:
        yield f"{spec.calls_per_minute} calls a minute"


def _option_faults(subject: ProviderUnderTest) -> Iterator[str]:
    spec, formats = subject.spec, subject.registry.formats
    spoken = {spec.format, *spec.other_formats, *(m.format for m in spec.models if m.format)}
    if spec.responses_url:
        spoken.add("openai-responses")
    known: dict[str, set[str | bool]] = {}
    if not all(formats[id].options for id in spoken & set(formats)):
        return  # one of them does not say what it reads
    for id in spoken & set(formats):
        for name, values in formats[id].options.items():
            known.setdefault(name, set()).update(values)
    for name, value in spec.options.items():
        if name not in known:
            yield f"no format of its own has an option {name!r}"
        elif known[name] and value not in known[name]:
            yield f"the option {name} cannot be {value!r}"


def _claim_faults(subject: ProviderUnderTest) -> Iterator[str]:
    spec = subject.spec
    rivals = [each for each in _installed_specs() if each.id != spec.id]
    is_bundled = any(each.id == spec.id for each in _installed_specs())
    if is_bundled:
        return  # the bundled ones share variables, and their own tests look at names
    if "" in spec.beginnings:
        yield "it claims every model that nobody else does"
    for rival in rivals:
        names = {rival.id, rival.alias, *rival.aliases} & {spec.alias, *spec.aliases} - {None}
        yield from (f"{name} is a name of {rival.id}" for name in sorted(map(str, names)))
        variables = {*rival.environment} & {*spec.environment}
        yield from (f"{name} holds the key of {rival.id}" for name in sorted(variables))
        begins = {*rival.beginnings} & {*spec.beginnings}
        yield from (f"{name!r} begins models of {rival.id}" for name in sorted(begins))
    yield from _host_faults(spec)


def _host_faults(spec: ProviderSpec) -> Iterator[str]:
    """Sites that are not the one of ``base_url``, and keys that go out in the clear."""
    urls = {"base_url": spec.base_url, "models_url": spec.models_url}
    urls |= {"responses_url": spec.responses_url, **spec.other_formats}
    home = _site(spec.base_url)
    for name, url in urls.items():
        if url is None or "{" in url:
            continue
        parts = urlsplit(url)
        if parts.scheme == "http" and not _is_private(parts.hostname or ""):
            yield f"{name} sends keys in the clear"
        named = {_site(f"https://{host.partition('://')[2] or host}") for host in spec.hosts}
        if home and _site(url) not in {home, *named}:
            yield f"{name} is at another site than base_url, which hosts does not name"


def _site(url: str | None) -> str:
    """The last two labels of a host."""
    host = urlsplit(url or "").hostname or ""
    return ".".join(host.split(".")[-2:])


def _is_private(host: str) -> bool:
    try:
        return ip_address(host).is_private
    except ValueError:
        return "." not in host or host.endswith((".local", ".internal", ".invalid"))


@cache
def _installed_specs() -> tuple[ProviderSpec, ...]:
    """Every vendor of the installed plugins, as they declare themselves."""
    specs: list[ProviderSpec] = []
    for entry in installed(lambda name, message: None):
        try:
            plugin = entry.load()
            if hasattr(plugin, "register_providers"):
                specs += call_hook(plugin, "register_providers")
        except Exception:  # another plugin's fault is not the tested one's
            continue
    return tuple(specs)
