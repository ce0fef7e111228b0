"""What an author says that vendors have nothing of: cases leave it out, and it is not taken on
trust."""

from collections.abc import Iterator
from pathlib import Path
from types import ModuleType

import pytest
from gateway_format_claude import CLAUDE
from gateway_format_openai import CHAT, COMPLETIONS
from gateway_kit.abilities import ABILITIES, STREAM, contents, is_asked, is_carried, unknown
from gateway_kit.check_command import describe_tier
from gateway_kit.dev.messages import ChildOptions
from gateway_kit.dev.vendors import build_vendor
from gateway_kit.formats import LawBroken, format_cases
from gateway_kit.formats.completions_requests import BODIES
from gateway_kit.installed_formats import build_registry, format_plugins
from gateway_kit.providers import ProviderSuite
from gateway_kit.providers.conformance_options import (
    BadConformanceOptions,
    read_conformance_options,
)
from gateway_kit.results import check, find
from gateway_kit.results.records import to_record
from msgspec.structs import replace

from gateway_core import (
    BadRequest,
    Conversation,
    Losses,
    Model,
    ProviderSpec,
    Target,
    VendorSide,
    WireFormat,
    hookimpl,
)

WITH_EXAMPLES = [name for name, ability in ABILITIES.items() if ability.example is not None]
TOOLS = ("tools", "parallel tools", "forced tools")


@pytest.mark.parametrize("name", WITH_EXAMPLES)
def test_an_example_needs_its_ability_and_what_stands_beside_it_does_not(name: str) -> None:
    ability = ABILITIES[name]
    assert ability.example is not None

    assert is_asked(ability.example, [name])
    assert not is_asked(ability.beside, [name])


def test_what_is_asked_for_is_seen_by_its_mark_or_by_a_difference() -> None:
    seed, choice = ABILITIES["seed"], ABILITIES["forced tools"]
    plain = b'{"id":"a","talk":[1]}'

    assert is_carried(seed, b'{"seed":48293}', plain, plain)
    assert not is_carried(seed, b'{"id":"b"}', plain, plain)
    assert is_carried(choice, b'{"id":"a","talk":[1],"must":true}', plain, plain)
    assert is_carried(choice, b'{"id":"a","talk":[2]}', plain, plain)
    assert is_carried(choice, b'{"id":"a","talk":[]}', plain, plain)
    assert not is_carried(choice, b'{"id":"c","talk":[1]}', plain, b'{"id":"b","talk":[1]}')


def law_broken(wire: WireFormat, law: str, *lacks: str) -> str | None:
    [case] = [each for each in format_cases(wire, examples=8, lacks=lacks) if str(each) == law]
    try:
        case.check()
    except LawBroken as broken:
        return str(broken)
    return None


@pytest.mark.parametrize("name", WITH_EXAMPLES)
def test_a_format_that_has_what_it_is_said_to_lack_is_told(name: str) -> None:
    said = law_broken(CHAT, "requests/lacks", name)

    assert said is not None
    assert f"the vendor is asked for {name}, which lacks says it has nothing of" in said


@pytest.mark.parametrize("name", ["seed", "min_p", "logprobs"])
def test_a_format_that_names_what_it_loses_lacks_it(name: str) -> None:
    assert law_broken(CLAUDE, "requests/lacks", name) is None


def test_a_format_that_asks_for_streams_does_not_lack_them() -> None:
    said = law_broken(CHAT, "requests/lacks-streams", STREAM)

    assert said is not None
    assert "a vendor that is said to have no streams is asked for one" in said


class Refusing:
    """A vendor side that refuses conversations with tools, or loses their seeds without a word."""

    def __init__(self, vendor: VendorSide, *, refuses: bool) -> None:
        self._vendor = vendor
        self._refuses = refuses

    def __getattr__(self, name: str) -> object:
        return getattr(self._vendor, name)

    def write_request(self, conversation: Conversation, target: Target, losses: Losses) -> bytes:
        if self._refuses and is_asked(conversation, TOOLS):
            raise BadRequest("No tools here", code="unsupported_request")
        if not self._refuses:
            sampling = replace(conversation.sampling, seed=None)
            conversation = replace(conversation, sampling=sampling)
        return self._vendor.write_request(conversation, target, losses)


def refusing(*, refuses: bool) -> WireFormat:
    assert CHAT.vendor is not None
    return replace(CHAT, vendor=Refusing(CHAT.vendor, refuses=refuses))


def requests_broken(wire: WireFormat, *lacks: str) -> list[str]:
    broken = []
    for case in format_cases(wire, examples=8, simplify=False, lacks=lacks):
        if str(case).startswith("requests/"):
            try:
                case.check()
            except LawBroken:
                broken.append(str(case))
    return broken


def test_a_format_that_refuses_what_it_lacks_keeps_every_law() -> None:
    undeclared = requests_broken(refusing(refuses=True))

    assert "requests/keeps: tools" in undeclared
    assert requests_broken(refusing(refuses=True), *TOOLS) == []


def test_what_is_lost_without_a_word_is_not_lacking() -> None:
    said = law_broken(refusing(refuses=False), "requests/lacks", "seed")

    assert said is not None
    assert "seed is neither refused with BadRequest nor named in losses" in said


def asked_broken(bodies: dict[str, object], *lacks: str) -> list[str]:
    broken = []
    for case in format_cases(COMPLETIONS, bodies=bodies, lacks=lacks):  # type: ignore[arg-type]
        if str(case).startswith("asked/"):
            try:
                case.check()
            except LawBroken as error:
                broken.append(f"{case} {error}")
    return broken


def test_clients_need_no_body_for_what_is_lacking() -> None:
    bodies = {name: body for name, body in BODIES.items() if name not in ("seed", "stop")}

    assert len(asked_broken(bodies)) == 1
    assert asked_broken(bodies, "seed", "stop") == []


def test_a_body_for_what_is_lacking_is_told() -> None:
    assert BODIES["seed"] is not None

    [said] = asked_broken(dict(BODIES), "seed")

    assert "there is a body for what is lacking" in said


@pytest.mark.parametrize(
    ("name", "hint"), [("tool", "is 'tools' meant?"), ("zebra", "there are stream, system")]
)
def test_a_name_that_is_no_ability_is_refused(name: str, hint: str) -> None:
    module = ModuleType("acme")
    module.CONFORMANCE = {"lacks": ["seed", name]}  # type: ignore[attr-defined]

    with pytest.raises(BadConformanceOptions, match=f"{name!r} is no ability; "):
        read_conformance_options("acme", module)
    with pytest.raises(BadConformanceOptions, match="is no ability"):
        ProviderSuite((module,), lacks=[name])
    with pytest.raises(ValueError, match="is no ability"):
        format_cases(CHAT, lacks=[name])
    assert hint in next(unknown([name]))


def vendor(*lacks: str, drop: tuple[str, ...] = ()) -> ModuleType:
    """A vendor of chat completions that says what it lacks."""
    spec = ProviderSpec(
        id="acme",
        name="Acme",
        base_url="https://api.acme.example/v1",
        drop=drop,
        models=(Model("acme-large"),),
    )
    module = ModuleType("gateway_provider_acme_lacks")
    module.__doc__ = "Acme. See https://docs.acme.example."
    module.GATEWAY_PROTOCOL = 1  # type: ignore[attr-defined]
    module.register_providers = hookimpl(lambda: [spec])  # type: ignore[attr-defined]
    module.CONFORMANCE = {"lacks": list(lacks)}  # type: ignore[attr-defined]
    return module


def outcomes(
    suite: ProviderSuite, folder: Path, route: str = "openai-to-openai"
) -> Iterator[tuple[str, str | None]]:
    """The cases of a route that are about what is lacking, and their failures."""
    try:
        for case in suite.cases():
            if f"{route}: lacks " in case.name:
                yield case.name.rpartition(": ")[2], suite.run(case, folder)
    finally:
        suite.close()


def test_a_vendor_that_gets_nothing_of_what_it_lacks_passes(tmp_path: Path) -> None:
    module = vendor("tools", "seed", drop=("tools", "tool_choice", "seed"))

    found = dict(outcomes(ProviderSuite((module,)), tmp_path))

    assert found == {"lacks seed": None, "lacks tools": None}


@pytest.mark.parametrize("route", ["openai-to-openai", "claude-to-openai"])
def test_a_vendor_that_is_asked_for_what_it_lacks_fails(tmp_path: Path, route: str) -> None:
    suite = ProviderSuite((vendor("system", "tools"),))

    found = dict(outcomes(suite, tmp_path, route))

    assert found.keys() == {"lacks system", "lacks tools"}
    for failure in found.values():
        assert failure is not None
        assert "which lacks says it has nothing of" in failure


def test_a_vendor_without_streams_is_not_asked_for_any(tmp_path: Path) -> None:
    suite = ProviderSuite((vendor("stream"),))
    [case] = [
        each for each in suite.cases() if each.name.endswith("openai-to-openai-stream: model")
    ]

    failure = suite.run(case, tmp_path)
    suite.close()

    assert failure is not None
    assert "the body says stream=True" in failure


def test_cases_that_need_what_is_lacking_are_left_out() -> None:
    names = {case.name for case in ProviderSuite((vendor("tools", "stream"),)).cases()}
    usual = {case.name for case in ProviderSuite((vendor(),)).cases()}

    gone = {name.rpartition(": ")[2] for name in usual - names}
    assert {"says tool", "says tools", "error-mid-stream", "gives up what has failed"} <= gone
    assert "acme: openai-to-openai-whole: says text" in names


def test_the_argument_of_a_test_stands_in_for_the_plugins_word() -> None:
    suite = ProviderSuite((vendor("tools"),), lacks=("seed",))

    assert {subject.lacks for subject in suite.subjects} == {frozenset({"seed"})}


def test_the_verdict_says_what_is_lacking(tmp_path: Path) -> None:
    file = tmp_path / "acme_lacking.py"
    file.write_text(
        "from gateway_core import ProviderSpec, hookimpl\n\n"
        'CONFORMANCE = {"lacks": ["seed", "stop"]}\n\n\n'
        "@hookimpl\ndef register_providers():\n"
        '    return [ProviderSpec(id="acme", name="Acme", base_url="https://api.acme.example/v1")]\n'
    )

    results = check(find(str(file)), stop_after=frozenset())

    assert to_record(results).lacks == ("seed", "stop")
    assert describe_tier(results) == "failing, without seed, stop"


def test_dev_says_nothing_that_the_vendor_lacks() -> None:
    registry = build_registry({**format_plugins(), "acme": vendor()})
    options = ChildOptions(target="acme", plugins="", data_dir="", port=1, says="tools")

    with pytest.raises(BadConformanceOptions, match="lacks what --says tools needs"):
        build_vendor(options, registry, [registry.providers["acme"]], {}, frozenset({"tools"}))
    assert "tools" not in contents(frozenset({"parallel tools"}))


def test_the_page_lists_every_ability() -> None:
    page = (Path(__file__).parents[2] / "docs" / "conformance.md").read_text(encoding="utf-8")

    rows = page.partition("### What a vendor lacks")[2].partition("| --- | --- |\n")[2]
    table = rows.partition("\n\n")[0].splitlines()
    assert table == [f"| `{name}` | {each.means} |" for name, each in ABILITIES.items()]
