"""Cases about what a plugin declares, before anybody calls it."""

import json
from collections.abc import Iterator
from urllib.parse import urlsplit

from gateway_administration.plugins import manifest
from gateway_core.plugins.registry import Registry
from gateway_kit.case import Case, CaseFailed, expect
from gateway_kit.hook_calls import call_hook
from gateway_providers.testing import docstring_faults, variable_faults

from .harness import ProviderHarness
from .subject import CLIENTS, ProviderUnderTest

EXERCISED = ": exercised"
"""How the name of the case ends without which nothing above bronze was seen."""


def accepted_case(
    module: str, registry: Registry, plugins: set[str], *, has_providers: bool
) -> Case:
    """The gateway takes everything that the plugins bring."""

    async def run(harness: ProviderHarness) -> None:
        messages = [each.message for each in registry.problems if each.plugin in plugins]
        expect(not messages, "; ".join(messages))
        expect(has_providers, "the plugin registers no provider")

    return Case(
        name=f"{module}: accepted",
        advice="Correct what the gateway refuses in register_providers and register_formats.",
        run=run,
    )


def declaration_cases(subject: ProviderUnderTest) -> Iterator[Case]:
    """What one vendor's declaration keeps to."""
    name = subject.spec.id

    async def documented(harness: ProviderHarness) -> None:
        _none(docstring_faults(getattr(subject.plugin, "__doc__", None)))

    async def variables(harness: ProviderHarness) -> None:
        _none(variable_faults(subject.spec))

    async def addresses(harness: ProviderHarness) -> None:
        _none(_address_faults(subject))

    async def listed(harness: ProviderHarness) -> None:
        _none(_manifest_faults(subject))

    yield Case(
        name=f"{name}: documented",
        advice="Say in the module's docstring which vendor this is, and link its API reference.",
        run=documented,
    )
    yield Case(
        name=f"{name}: variables",
        advice="Spell the names in environment and environment_data in upper case, each once.",
        run=variables,
    )
    yield Case(
        name=f"{name}: addresses",
        advice="Give absolute URLs that end without a slash and hold neither a key nor a query.",
        run=addresses,
    )
    yield Case(
        name=f"{name}: manifest",
        advice="Declare constants only, so that the manifest's entry is the same in every process.",
        run=listed,
    )


def exercised_case(subject: ProviderUnderTest) -> Case:
    """Every way to its chat models has cases: what was not seen has no tier."""

    async def run(harness: ProviderHarness) -> None:
        missing = [client for client in CLIENTS if client not in subject.registry.formats]
        expect(not missing, f"the client formats {', '.join(missing)} are not installed")
        unspoken = subject.unspoken()
        expect(not unspoken, f"nothing answers in {', '.join(unspoken)}")

    return Case(
        name=f"{subject.spec.id}{EXERCISED}",
        advice=(
            "Name a Dialect for each format that no client speaks, in CONFORMANCE: "
            '{"dialects": {"acme": "acme_dialect:ACME"}}.'
        ),
        run=run,
    )


def _none(faults: Iterator[str]) -> None:
    messages = list(faults)
    if messages:
        raise CaseFailed("; ".join(messages))


def _address_faults(subject: ProviderUnderTest) -> Iterator[str]:
    spec = subject.spec
    urls = {"base_url": spec.base_url, "responses_url": spec.responses_url}
    urls |= {f"other_formats[{name}]": url for name, url in spec.other_formats.items()}
    for name, url in {**urls, "models_url": spec.models_url}.items():
        if url is None:
            continue
        parts = urlsplit(url)
        if parts.scheme not in ("http", "https") or not parts.netloc or "@" in parts.netloc:
            yield f"{name} {url!r} is no absolute http or https URL"
        if name != "models_url" and (url.endswith("/") or parts.query):
            yield f"{name} {url!r} ends with a slash or a query"
    if spec.chat_path is not None and not spec.chat_path.startswith("/"):
        yield f"chat_path {spec.chat_path!r} does not begin with a slash"


def _manifest_faults(subject: ProviderUnderTest) -> Iterator[str]:
    document = manifest.document([subject.spec])
    [entry] = json.loads(document)["providers"]
    if entry["id"] != subject.spec.id:
        yield f"the manifest names {entry['id']!r}"
    specs = [
        spec
        for spec in call_hook(subject.plugin, "register_providers")
        if spec.id == subject.spec.id
    ]
    if specs and manifest.entry(specs[0]).endpoints != manifest.entry(subject.spec).endpoints:
        yield "asked twice, the plugin declares two different things"
