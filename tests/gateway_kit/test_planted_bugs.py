"""Bugs that were planted into plugins of other shapes are found, and the sound plugins pass.

All of them take minutes: ``tools/planted_bugs.py tests/data/planted_bugs/first`` runs every one.
Here a few of each plugin have to do, and every law that is broken by them alone.
"""

import shutil
from pathlib import Path

import pytest
from gateway_kit.bugs import PlantedBug, hunt, plant, read_bugs
from gateway_kit.bugs.hunt import check_apart
from gateway_kit.bugs.mutate import mutations
from gateway_kit.bugs.planted import NoSuchPlace

FOLDER = Path(__file__).parents[1] / "data" / "planted_bugs"
TABLES = sorted(FOLDER.glob("*/*.toml"))
CHOSEN = {
    "larch": ("type-error", "seed-lost", "characters-cut"),
    "birch": ("misspelt-option", "answer-logged", "follows-redirects"),
    "maple": ("seed-lost", "cached-lost", "state-shared", "streamed-text-stripped"),
    "aspen": ("never-is-free", "address-in-results-not-told", "seal-in-stream-lost", "wait-lost"),
    "hazel": ("body-not-changed", "text-logged"),
}


def name_of(table: Path) -> str:
    return f"{table.parent.name}/{table.stem}"


@pytest.mark.parametrize("table", TABLES, ids=name_of)
def test_every_bug_has_its_place(table: Path, tmp_path: Path) -> None:
    bugs = read_bugs(table)

    for number, bug in enumerate(bugs):
        home = tmp_path / str(number)
        home.mkdir()
        changed = plant(table.with_suffix(""), bug, home) / bug.file
        compile(changed.read_text(), str(changed), "exec")

    assert len({bug.name for bug in bugs}) == len(bugs)


def test_the_sets_are_large_enough() -> None:
    sets = {
        folder: sum(len(read_bugs(table)) for table in folder.glob("*.toml"))
        for folder in {table.parent for table in TABLES}
    }

    assert min(sets.values()) >= 100


@pytest.mark.parametrize("name", sorted(CHOSEN))
def test_planted_bugs_are_found(name: str) -> None:
    table = FOLDER / "first" / f"{name}.toml"
    bugs = [bug for bug in read_bugs(table) if bug.name in CHOSEN[name]]

    # No case fails without a bug: test_a_sound_plugin_of_another_shape_passes.
    findings = list(hunt(table.with_suffix(""), bugs, known=frozenset()))

    assert [each.bug.name for each in findings if each.message is None] == []


@pytest.mark.parametrize("table", TABLES, ids=name_of)
def test_a_sound_plugin_of_another_shape_passes(table: Path) -> None:
    assert check_apart(table.with_suffix(""), limit=240, known=frozenset()) == []


def test_what_breaks_nothing_is_not_found() -> None:
    harmless = PlantedBug(name="none", breaks="nothing", old="class Writer:", new="class Writer:")

    [finding] = hunt(FOLDER / "first" / "maple", [harmless])

    assert finding.message is None


def test_a_place_that_is_not_there_once_is_said(tmp_path: Path) -> None:
    (tmp_path / "acme.py").write_text("a = 1\n")
    (tmp_path / "copy").mkdir()
    bug = PlantedBug(name="gone", breaks="nothing", old="b = 1", new="b = 2")

    with pytest.raises(NoSuchPlace, match="gone: what it replaces occurs 0 times"):
        plant(tmp_path / "acme.py", bug, tmp_path / "copy")


def test_mutations_change_one_thing_and_stay_python(tmp_path: Path) -> None:
    source = (
        '"""Text."""\n\nGATEWAY_PROTOCOL = 1\nLIMIT = 3\n\n\n'
        "def small(n: int) -> bool:\n    return n < LIMIT and not n == 2\n"
    )
    (tmp_path / "acme.py").write_text(source)

    found = mutations(tmp_path / "acme.py", 20)

    assert "acme.py:8: >= in the place of its opposite" in [bug.name for bug in found]
    assert all(compile(bug.new, bug.name, "exec") and bug.new != source for bug in found)
    assert not any("GATEWAY_PROTOCOL = 2" in bug.new for bug in found)
    assert found == mutations(tmp_path / "acme.py", 20)


def test_the_tests_beside_a_plugin_are_run_too(tmp_path: Path) -> None:
    package = tmp_path / "gateway_extension_calm"
    shutil.copytree(FOLDER / "first" / "hazel", package)
    (tmp_path / "tests").mkdir()
    (tmp_path / "tests" / "test_calm.py").write_text(
        "from gateway_extension_calm import Settings\n\n\n"
        "def test_words():\n    assert Settings().words == ('acorn',)\n"
    )
    bug = PlantedBug(name="word", breaks="nothing", old='("acorn",)', new='("nut",)')

    [finding] = hunt(package, [bug], with_tests=True)

    assert (finding.message, finding.is_tested) == (None, True)
