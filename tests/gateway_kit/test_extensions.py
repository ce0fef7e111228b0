"""The kit for extensions: a sound one passes, and bugs that are put into it are found."""

from collections.abc import Iterator
from pathlib import Path

import pytest
from extension_bugs import BUGS, GROUPS, module_of, write
from gateway_kit.extensions import ExtensionSuite, extension_cases

PUBLIC = {"/sample/health"}
DUE = 0.95
"""The share of bugs that has to be found."""
ABOUT = {
    "calls": ("accepted", "interceptor"),
    "routes": ("accepted", "routes"),
    "life": ("accepted", "life"),
    "answers": ("accepted", "answers"),
    "the rest": ("accepted", "imports", "documented", "settings", "commands"),
}
"""The cases that may find the bugs of a group; leaving the others out saves time."""


@pytest.fixture(scope="module", autouse=True)
def folder(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Path]:
    folder: Path = tmp_path_factory.mktemp("plugins")
    write(folder)
    with pytest.MonkeyPatch.context() as patch:
        patch.syspath_prepend(folder)
        yield folder


def suite_of(name: str, together: tuple[str, ...]) -> ExtensionSuite:
    return ExtensionSuite(module_of(name), public=PUBLIC, together=tuple(map(module_of, together)))


def failures(
    name: str, data_dir: Path, together: tuple[str, ...], about: tuple[str, ...] = ("",)
) -> Iterator[str]:
    """What the author of a module is told. The processes that import are shared."""
    suite = suite_of(name, together)
    try:
        for case in suite.cases():
            is_wanted = case.name.partition(": ")[2].startswith(about)
            failure = suite.run(case, data_dir / name) if is_wanted else None
            if failure is not None:
                yield failure
    finally:
        suite.close()


def test_a_sound_extension_passes_every_case(tmp_path: Path) -> None:
    found = list(failures("sound", tmp_path, ("sound",)))

    assert found == []


@pytest.mark.parametrize("group", GROUPS)
def test_nearly_every_bug_in_an_extension_is_found(group: str, tmp_path: Path) -> None:
    names = GROUPS[group]

    found = {name: next(failures(name, tmp_path, names, ABOUT[group]), None) for name in names}

    missed = [name for name, failure in found.items() if failure is None]
    assert len(names) >= 10
    assert len(missed) <= (1 - DUE) * len(names), f"missed: {', '.join(missed)}"


def test_the_groups_hold_every_bug_once() -> None:
    grouped = [name for names in GROUPS.values() for name in names]

    assert sorted(grouped) == sorted(BUGS)


def test_a_failure_says_what_to_do(tmp_path: Path) -> None:
    reported = next(failures("path_of_the_gateway", tmp_path, ("path_of_the_gateway",)))

    assert reported == (
        "gateway_sample_path_of_the_gateway: routes: free: Choose paths of your own, each once. "
        "Seen: GET /api/health is the gateway's own"
    )


def test_the_cases_follow_from_the_hooks() -> None:
    everything = {case.name.split(": ")[1] for case in suite_of("sound", ("sound",)).cases()}
    without = {case.name.split(": ")[1] for case in ExtensionSuite(Nothing()).cases()}

    assert {"settings", "interceptor", "answers", "routes", "commands", "life"} <= everything
    assert without == {"accepted", "documented"}


def test_ten_lines_give_an_author_a_test_for_each_case() -> None:
    test = extension_cases(module_of("sound"), public=PUBLIC)

    [mark] = test.pytestmark  # type: ignore[attr-defined]
    names = [case.name for case in mark.args[1]]
    assert "gateway_sample_sound: routes: shut" in names


class Nothing:
    """Says nothing."""
