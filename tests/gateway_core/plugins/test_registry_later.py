"""What comes into the tables while the gateway runs, and what cannot be changed."""

from typing import Any

import pytest
from plugin_registries import build_registry, messages, record, spec

from gateway_core.plugins import Problem, State
from gateway_core.plugins.registry import RUNTIME, with_problems, with_providers


def test_providers_can_be_added_while_the_gateway_runs() -> None:
    before = build_registry(spec())
    node = spec("node-1", alias="MyNode")

    after = with_providers(before, [node])

    assert after.providers["node-1"] == node
    assert after.names["MyNode"] == "node-1"
    assert after.provider_plugins["node-1"] == RUNTIME
    assert after.plugins == before.plugins
    assert "node-1" not in before.providers
    assert "MyNode" not in before.names
    assert after.formats == before.formats


@pytest.mark.parametrize("name", ["acme", "ac"])
def test_an_added_provider_takes_no_name_that_a_plugin_has(name: str) -> None:
    before = build_registry(spec(alias="ac"))

    after = with_providers(before, [spec(name, name="Intruder")])

    assert after.providers == before.providers
    assert after.names == before.names
    assert messages(after, RUNTIME) == [
        f"provider {name!r} is refused: "
        f"{name!r} already stands for provider 'acme' of plugin vendor"
    ]


def test_an_added_provider_is_checked_like_any_other() -> None:
    after = with_providers(build_registry(), [spec("node", format="absent")])

    assert "node" not in after.providers
    assert "speaks the format 'absent'" in messages(after, RUNTIME)[0]


def test_what_is_registered_cannot_be_changed_afterwards() -> None:
    headers, options = {"x-title": "a"}, {"tools": True}
    registry = build_registry(spec(headers=headers, options=options))
    given: Any = registry.providers["acme"]

    headers["x-title"], options["tools"] = "b", False

    assert (given.headers, given.options) == ({"x-title": "a"}, {"tools": True})
    with pytest.raises(TypeError):
        given.options["tools"] = False


def test_what_goes_wrong_later_is_told_with_the_rest() -> None:
    before = build_registry(spec())
    reported = Problem("vendor", "lifespan failed", fatal=True)

    after = with_problems(before, [reported, Problem("formats", "a note")])

    assert after.problems[-2:] == (reported, Problem("formats", "a note"))
    assert record(after, "vendor").state is State.FAILED
    assert record(after, "formats").state is State.LOADED
    assert after.providers == before.providers
