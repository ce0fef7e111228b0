"""The kit is worth running: a sound plugin passes it, and bugs that are put in are found."""

from collections.abc import Iterator
from pathlib import Path

import pytest
from gateway_kit.providers import ProviderSuite
from seeded_bugs import BUGS, SOUND_ONES, module_of, write

NAMES = [*SOUND_ONES, *BUGS]


@pytest.fixture(scope="module")
def suite(tmp_path_factory: pytest.TempPathFactory) -> Iterator[ProviderSuite]:
    folder: Path = tmp_path_factory.mktemp("plugins")
    write(folder)
    with pytest.MonkeyPatch.context() as patch:
        patch.syspath_prepend(folder)
        suite = ProviderSuite(tuple(map(module_of, NAMES)), thorough=False, every_client=False)
        yield suite
        suite.close()


def failures(suite: ProviderSuite, name: str, data_dir: Path) -> Iterator[str]:
    for case in suite.cases_of(module_of(name)):
        failure = suite.run(case, data_dir)
        if failure is not None:
            yield failure


@pytest.mark.parametrize("name", SOUND_ONES)
def test_a_sound_plugin_passes_every_case(suite: ProviderSuite, name: str, tmp_path: Path) -> None:
    found = list(failures(suite, name, tmp_path))

    assert found == []


def test_every_bug_is_found(suite: ProviderSuite, tmp_path: Path) -> None:
    found = {name: next(failures(suite, name, tmp_path), None) for name in BUGS}
    missed = [name for name, failure in found.items() if failure is None]

    assert len(BUGS) >= 15
    assert missed == []


def test_a_failure_says_what_to_do(suite: ProviderSuite, tmp_path: Path) -> None:
    received = "openai-to-openai-whole: key"
    [reported] = [each for each in failures(suite, "key_in_query", tmp_path) if received in each]

    assert reported == (
        "sample-key-in-query: openai-to-openai-whole: key: Show the account's key in exactly one "
        "header, and nothing that the client sent. Seen: the key is in authorization, the address"
    )
