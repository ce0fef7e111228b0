"""The kit for extensions that rewrite: what they do not change survives, and bugs are found."""

from collections.abc import Iterator
from pathlib import Path

import pytest
from gateway_kit.extensions import ExtensionSuite
from gateway_kit.extensions.rewriting import CASES
from rewriting_bugs import GROUPS, module_of, write

DUE = 0.95
"""The share of bugs that has to be found."""
REWRITING = tuple(f"interceptor: {name}" for name in CASES)
ABOUT = {
    "bodies": REWRITING,
    "messages": REWRITING,
    "texts": REWRITING,
    "conversations": ("interceptor: odd calls", *REWRITING),
    "answers": ("answers: cuts", "answers: two choices", "answers: keeps the rest"),
}
"""The cases that may find the bugs of a group."""


@pytest.fixture(scope="module", autouse=True)
def folder(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Path]:
    folder: Path = tmp_path_factory.mktemp("plugins")
    write(folder)
    with pytest.MonkeyPatch.context() as patch:
        patch.syspath_prepend(folder)
        yield folder


def failures(
    group: str, name: str, data_dir: Path, about: tuple[str, ...] = ("",)
) -> Iterator[str]:
    suite = ExtensionSuite(module_of(group, name))
    try:
        for case in suite.cases():
            is_wanted = case.name.partition(": ")[2].startswith(about)
            failure = suite.run(case, data_dir / name) if is_wanted else None
            if failure is not None:
                yield failure
    finally:
        suite.close()


def test_a_sound_rewriter_passes_every_case(tmp_path: Path) -> None:
    assert list(failures("all", "sound", tmp_path)) == []


@pytest.mark.parametrize("group", GROUPS)
def test_nearly_every_bug_in_a_rewriter_is_found(group: str, tmp_path: Path) -> None:
    names = GROUPS[group]

    found = {name: next(failures(group, name, tmp_path, ABOUT[group]), None) for name in names}

    missed = [name for name, failure in found.items() if failure is None]
    assert len(names) >= 5
    assert len(missed) <= (1 - DUE) * len(names), f"missed: {', '.join(missed)}"
