"""The bundled plugins pass the kit that other authors are given, and their tiers say so."""

from collections.abc import Iterator
from pathlib import Path

import pytest
from gateway_kit.extensions import ExtensionSuite
from gateway_kit.providers import Account, ProviderSuite
from gateway_kit.results import find
from gateway_kit.results.outcome import reached_tier
from plugin_folders import ACCOUNTS, Folder, folders

from gateway_administration.plugins.tiers import shipped
from gateway_core.plugins.files import digest_of

PROVIDERS, FORMATS = folders("provider"), folders("format")
DASHBOARD = "gateway_dashboard_api.plugin"
THOROUGH = frozenset({"groq", "anthropic", "gemini", "ollama", "openai", "bedrock", "cohere"})
"""One for each wire format."""
NEEDS = {id: Account(data=data) for id, data in ACCOUNTS.items()}
GOOGLE = Account(secret="AIza-kit-0123456789abcdef", data=ACCOUNTS["vertex"])


@pytest.fixture(scope="module")
def suite() -> Iterator[ProviderSuite]:
    """All of them behind one gateway."""
    suite = ProviderSuite(
        tuple(folder.module_name for folder in PROVIDERS),
        accounts={**NEEDS, "vertex": GOOGLE},
        thorough=THOROUGH,
        every_client=False,
        answers_itself=frozenset({"echo"}),
    )
    yield suite
    suite.close()


@pytest.mark.parametrize("folder", PROVIDERS, ids=str)
def test_a_bundled_provider_passes_every_case(
    suite: ProviderSuite, folder: Folder, tmp_path: Path
) -> None:
    every = suite.cases_of(folder.module_name)
    cases = [case for case in every if suite.expected_failure(case) is None]

    failures = [suite.run(case, tmp_path) for case in cases]

    assert len(cases) >= 8
    assert [failure for failure in failures if failure is not None] == []
    assert reached_tier([case.tier for case in cases], [], live=False) is shipped()[folder.key].tier
    assert shipped()[folder.key].expected == len(every) - len(cases)


def test_every_plugin_has_cases(suite: ProviderSuite) -> None:
    counted = sum(len(suite.cases_of(folder.module_name)) for folder in PROVIDERS)

    assert counted == len(suite.cases())


def test_the_shipped_tiers_are_those_of_the_bundled_plugins() -> None:
    assert set(shipped()) == {folder.key for folder in (*PROVIDERS, *FORMATS)}


@pytest.mark.parametrize("folder", [*PROVIDERS, *FORMATS], ids=str)
def test_a_shipped_tier_is_about_the_files_as_they_are(folder: Folder) -> None:
    digest = digest_of(find(folder.key))

    reported = "run tools/conformance.py --changed"
    assert shipped()[folder.key].digest == digest, reported


@pytest.mark.parametrize("folder", FORMATS, ids=str)
def test_a_bundled_format_has_a_tier(folder: Folder) -> None:
    result = shipped()[folder.key]

    assert (result.tier, result.failed) == ("gold", 0)


def test_the_management_routes_pass_as_an_extension_would(tmp_path: Path) -> None:
    """It is a part of the gateway, so it may import more than others."""
    suite = ExtensionSuite(DASHBOARD, trusted=True)
    cases = [case for case in suite.cases() if not case.name.endswith("imports what stays")]

    failures = [suite.run(case, tmp_path) for case in cases]

    suite.close()
    assert len(cases) >= 10
    assert [failure for failure in failures if failure is not None] == []
