"""Services in words of a vendor's own: a sound vendor passes, and what it carries wrongly is
found."""

from collections.abc import Iterator
from pathlib import Path

import pytest
from gateway_kit.providers import ProviderSuite
from translated_service_bugs import BUGS, SAMPLES, module_of, write

OF_SERVICES = {"services", *SAMPLES}


@pytest.fixture(scope="module")
def suite(tmp_path_factory: pytest.TempPathFactory) -> Iterator[ProviderSuite]:
    folder: Path = tmp_path_factory.mktemp("plugins")
    write(folder)
    with pytest.MonkeyPatch.context() as patch:
        patch.syspath_prepend(folder)
        suite = ProviderSuite(tuple(map(module_of, ("sound", *BUGS))))
        yield suite
        suite.close()


def failures(suite: ProviderSuite, name: str, data_dir: Path) -> Iterator[str]:
    for case in suite.cases_of(module_of(name)):
        if case.name.split(": ")[1] in OF_SERVICES:  # some others start a process each
            failure = suite.run(case, data_dir)
            if failure is not None:
                yield failure


def test_a_sound_vendor_with_words_of_its_own_passes(suite: ProviderSuite, tmp_path: Path) -> None:
    found = list(failures(suite, "sound", tmp_path))

    assert "\n".join(found) == ""


def test_what_a_service_carries_wrongly_is_found(suite: ProviderSuite, tmp_path: Path) -> None:
    found = {name: next(failures(suite, name, tmp_path), None) for name in BUGS}
    missed = [name for name, failure in found.items() if failure is None]

    assert len(BUGS) >= 80
    assert missed == []
