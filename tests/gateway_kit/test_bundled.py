"""The bundled providers pass the kit that other authors are given."""

from collections.abc import Iterator
from pathlib import Path

import pytest
from plugin_folders import ACCOUNTS, Folder, folders

from gateway_kit.providers import Account, Suite

PROVIDERS = folders("provider")
THOROUGH = frozenset({"groq", "anthropic", "gemini", "ollama", "openai", "bedrock", "cohere"})
"""One for each wire format."""
NEEDS = {id: Account(data=data) for id, data in ACCOUNTS.items()}
GOOGLE = Account(secret="AIza-kit-0123456789abcdef", data=ACCOUNTS["vertex"])


@pytest.fixture(scope="module")
def suite() -> Iterator[Suite]:
    """All of them behind one gateway."""
    suite = Suite(
        tuple(folder.module_name for folder in PROVIDERS),
        accounts={**NEEDS, "vertex": GOOGLE},
        thorough=THOROUGH,
        every_client=False,
        answers_itself=frozenset({"echo"}),
    )
    yield suite
    suite.close()


@pytest.mark.parametrize("folder", PROVIDERS, ids=str)
def test_a_bundled_provider_passes_every_case(suite: Suite, folder: Folder, tmp_path: Path) -> None:
    cases = suite.cases_of(folder.module_name)

    failures = [suite.run(case, tmp_path) for case in cases]

    assert len(cases) >= 8
    assert [failure for failure in failures if failure is not None] == []


def test_every_plugin_has_cases(suite: Suite) -> None:
    counted = sum(len(suite.cases_of(folder.module_name)) for folder in PROVIDERS)

    assert counted == len(suite.cases())
