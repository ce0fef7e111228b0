"""Services besides chat: a sound provider of every kind passes, and bugs put in are found."""

from collections.abc import Iterator
from pathlib import Path

import pytest
from gateway_kit.providers import SAMPLES, ProviderSuite, ServiceSample
from service_bugs import BUGS, module_of, write

from gateway_core import Kind

SOCKETS = {
    *(Kind.REALTIME, Kind.REALTIME_TRANSLATION, Kind.REALTIME_TRANSCRIPTION),
    *(Kind.LIVE, Kind.DECISION),
}
"""Kinds that no single request and answer can show."""


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
        failure = suite.run(case, data_dir)
        if failure is not None:
            yield failure


def test_a_sound_service_of_every_kind_passes(suite: ProviderSuite, tmp_path: Path) -> None:
    found = list(failures(suite, "sound", tmp_path))

    assert found == []


def test_every_kind_that_can_be_asked_has_cases(suite: ProviderSuite) -> None:
    names = [case.name for case in suite.cases_of(module_of("sound"))]

    received = {kind for kind in Kind if any(f": {kind}: " in name for name in names)}
    assert received == set(Kind) - SOCKETS - {Kind.LLM}


def test_every_bug_in_a_service_is_found(suite: ProviderSuite, tmp_path: Path) -> None:
    found = {name: next(failures(suite, name, tmp_path), None) for name in BUGS}
    missed = [name for name, failure in found.items() if failure is None]

    assert len(BUGS) >= 30
    assert missed == []


def test_an_author_may_bring_a_sample_of_the_vendors_own(
    suite: ProviderSuite, tmp_path: Path
) -> None:
    own = ServiceSample(
        request=SAMPLES[Kind.RERANK].request, reply=b'{"ranked":[1,0]}', shown=(b"[1,0]",)
    )
    other = ProviderSuite((module_of("sound"),), samples={Kind.RERANK: own})
    [case] = [each for each in other.cases() if each.name.endswith("rerank: answer")]

    failure = suite.run(case, tmp_path)

    assert failure is None
