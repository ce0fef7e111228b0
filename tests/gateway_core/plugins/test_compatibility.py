"""Whether a plugin fits a gateway, told from its source."""

from pathlib import Path

import pytest
from gateway_kit.compatibility import Comparison, Weight, compared, findings_of
from gateway_kit.interface import UnknownVersion, gateway_of, takes_more
from gateway_kit.uses import uses_of
from msgspec.structs import replace
from two_protocols import FIRST_RELEASE, SECOND_RELEASE, speak_two_protocols

from gateway_core.plugins import Found, Origin

pytestmark = pytest.mark.usefixtures("two")
HEAD = "from gateway_core import Kind, Model, ProviderSpec, hookimpl\n"


@pytest.fixture
def two(monkeypatch: pytest.MonkeyPatch) -> None:
    """Two made-up versions: ``host`` is an argument of the first, ``settings`` of the second."""
    speak_two_protocols(monkeypatch)


def refuse() -> object:
    raise AssertionError("the plugin is imported")


def held(tmp_path: Path, source: str, against: str) -> Comparison:
    file = tmp_path / "acme.py"
    file.write_text(source)
    found = Found(name="acme", module="x", load=refuse, origin=Origin.FILE, path=file)
    return compared(found, against)


def reported(tmp_path: Path, source: str, against: str) -> list[tuple[str, str]]:
    findings = held(tmp_path, source, against).findings
    return [(each.weight.value, each.detail) for each in findings]


@pytest.mark.parametrize("against", ["1", "2", FIRST_RELEASE, SECOND_RELEASE])
def test_a_plugin_that_takes_what_there_is_fits(tmp_path: Path, against: str) -> None:
    source = (
        HEAD + "@hookimpl\ndef register_providers():\n"
        "    return [ProviderSpec(id='a', name='A', models=(Model(id='m', kind=Kind.LLM),))]\n"
    )

    found = held(tmp_path, source, against)

    assert found.fits
    assert found.findings == ()


@pytest.mark.parametrize(
    ("source", "against", "detail"),
    [
        ("GATEWAY_PROTOCOL = 3", "2", "it speaks hook protocol 3, and the gateway speaks 1 and 2"),
        ("GATEWAY_PROTOCOL = 2", "1", "it speaks hook protocol 2, and the gateway speaks 1"),
        ("from gateway_core import Gone", "2", "gateway_core has no Gone"),
        (HEAD + "Kind.NOPE", "2", "Kind has no NOPE"),
        (HEAD + "Model(id='m', colour=1)", "2", "Model has no colour"),
        (HEAD + "Model(tools=True)", "2", "Model is not made without id"),
        (HEAD + "ProviderSpec(id='a', name='A', hosts=())", "1", "ProviderSpec has no hosts"),
        (HEAD + "@hookimpl\ndef register_colours(): ...", "2", "there is no hook register_colours"),
        (HEAD + "@hookimpl\ndef register_settings(): ...", "1", "there is no hook register_set"),
        (HEAD + "@hookimpl\ndef lifespan(settings): ...", "1", "lifespan is given no settings"),
        (HEAD + "@hookimpl\ndef lifespan(colour): ...", "2", "lifespan is given no colour"),
        (
            HEAD + "GATEWAY_PROTOCOL = 2\n@hookimpl\ndef lifespan(host): ...",
            "2",
            "lifespan takes host, which hook protocol 2 has not",
        ),
        ("def broken(:", "2", "it is no Python that can be read"),
    ],
)
def test_what_is_missing_is_told(tmp_path: Path, source: str, against: str, detail: str) -> None:
    found = held(tmp_path, source, against)

    missing = [each.detail for each in found.findings if each.weight is Weight.MISSING]
    assert not found.fits
    assert any(each.startswith(detail) for each in missing), missing


@pytest.mark.parametrize(
    ("source", "detail"),
    [
        (HEAD + "@hookimpl\ndef lifespan(host): ...", "goes with hook protocol 1"),
        (HEAD + "@hookimpl\ndef lifespan(settings): ...", "came with hook protocol 2"),
        ("from gateway_core.app import Gateway", "gateway_core.app.Gateway is private"),
        ("from gateway_core import *", "it takes every name"),
        ("GATEWAY_PROTOCOL = 1 + 1", "does not tell which hook protocol"),
    ],
)
def test_what_only_should_be_known_is_a_note(tmp_path: Path, source: str, detail: str) -> None:
    found = held(tmp_path, source, "2")

    assert found.fits
    assert [each.weight for each in found.findings] == [Weight.NOTE]
    assert detail in found.findings[0].detail


def test_names_of_the_door_that_stand_deeper_are_no_private_ones(tmp_path: Path) -> None:
    source = (
        "import gateway_core.identity.access as access\n"
        "from gateway_core.http.operations import Guarded\n"
        "access.Access.PUBLIC\n"
    )

    assert reported(tmp_path, source, "2") == []


def test_each_thing_is_told_once_with_its_first_place(tmp_path: Path) -> None:
    found = held(tmp_path, HEAD + "Model(id='m', colour=1)\nModel(id='n', colour=2)", "2")

    assert [(each.detail, each.place) for each in found.findings] == [
        ("Model has no colour", "acme.py:2")
    ]


def test_what_changed_since_the_plugin_was_written_is_told(tmp_path: Path) -> None:
    file = tmp_path / "acme.py"
    file.write_text(HEAD + "GATEWAY_PROTOCOL = 2\nModel(id='m')\n")
    found = Found(name="acme", module="x", load=refuse, origin=Origin.FILE, path=file)
    gateway = gateway_of("2")
    names = gateway.interface.names
    model = {**names["Model"], "id": "str | None = None", "size": "int = 0"}
    other = replace(gateway.interface, names={**names, "Model": model})

    findings = findings_of(uses_of(found), replace(gateway, interface=other))

    assert [(each.weight, each.detail) for each in findings] == [
        (Weight.CHANGED, "Model.id is str | None = None, and not str")
    ]


@pytest.mark.parametrize(
    ("now", "is_told"),
    [
        (
            "(self, message: str, *, code: str | None = None, param: str | None = None) -> None",
            False,
        ),
        ("(self, message: str, *, param: int = 1, code: str | None = None) -> None", False),
        ("(self, message: str, *, code: str | None = None, param: str) -> None", True),
        ("(self, message: str, *, code: str | None = None, param: str = 'a') -> int", True),
        ("(self, message: str, param: str = 'a', *, code: str | None = None) -> None", True),
        ("(self, message: str, *, code: str, param: str = 'a') -> None", True),
        ("(self, message: str, *, param: str | None = None) -> None", True),
        ("async (self, message: str, *, code: str | None = None, b: int = 1) -> None", True),
        ("str | None = None", True),
    ],
)
def test_a_method_that_takes_more_by_name_is_as_it_was(now: str, is_told: bool) -> None:
    before = "(self, message: str, *, code: str | None = None) -> None"

    assert takes_more(before, now) is not is_told


def test_an_unknown_version_is_no_answer(tmp_path: Path) -> None:
    with pytest.raises(UnknownVersion):
        held(tmp_path, "", "nine")
