"""Loading plugins and asking them, with plugins that are objects of this process."""

import threading
from collections.abc import Callable, Iterable, Mapping
from types import ModuleType
from typing import Any

import pluggy

from gateway_core import ProviderSpec, hookimpl
from gateway_core.plugins import Problem, State, answers, load, replies
from gateway_core.plugins.guard import LoadGuard


def plugin(**hooks: Callable[..., object]) -> ModuleType:
    """A plugin made of functions; one that carries no mark gets the plain one."""
    module = ModuleType("in_process")
    for name, function in hooks.items():
        marked = function if hasattr(function, "model_gateway_impl") else hookimpl(function)
        setattr(module, name, marked)
    return module


def nothing() -> list[object]:
    return []


def manager_of(extra: Mapping[str, object], **options: Any) -> pluggy.PluginManager:
    return load(extra=extra, entry_points=False, **options).manager


def test_nothing_installed_is_looked_at_when_told_so() -> None:
    assert load(entry_points=False).plugins == ()


def test_the_block_list_wins_over_the_allow_list() -> None:
    extra = {name: plugin(register_formats=nothing) for name in ("one", "two", "three")}

    loaded = load(
        extra=extra,
        entry_points=False,
        allowed=frozenset({"one", "two"}),
        blocked=frozenset({"two"}),
    )

    assert [(each.name, each.state) for each in loaded.plugins] == [
        ("one", State.LOADED),
        ("three", State.UNLISTED),
        ("two", State.BLOCKED),
    ]
    assert [name for name, _ in loaded.manager.list_name_plugin()] == ["one"]
    assert [each.error for each in loaded.plugins] == [None, None, None]


def test_a_blocked_plugin_is_not_even_imported() -> None:
    class Untouchable:
        def __dir__(self) -> Iterable[str]:
            raise AssertionError("touched")

    loaded = load(extra={"it": Untouchable()}, entry_points=False, blocked=frozenset({"it"}))

    assert loaded.problems == ()


def test_one_object_cannot_be_two_plugins() -> None:
    shared = plugin(register_formats=nothing)

    loaded = load(extra={"one": shared, "two": shared}, entry_points=False)

    assert [each.state for each in loaded.plugins] == [State.LOADED, State.FAILED]
    assert loaded.plugins[1].error == "ValueError: it is the same module as plugin one"


def test_hook_wrappers_are_refused() -> None:
    def register_formats() -> Any:
        return (yield)

    wrapper = plugin(register_formats=hookimpl(wrapper=True)(register_formats))

    loaded = load(extra={"wrapper": wrapper}, entry_points=False)

    assert loaded.plugins[0].error == "ValueError: hook wrappers are not supported"
    assert loaded.manager.hook.register_formats.get_hookimpls() == []


def test_an_optional_hook_may_be_unknown() -> None:
    optional = plugin(register_colours=hookimpl(optionalhook=True)(lambda: 0))

    assert load(extra={"optional": optional}, entry_points=False).problems == ()


def test_loads_share_nothing() -> None:
    first = manager_of({"one": plugin(register_formats=nothing)})
    second = manager_of({"two": plugin(register_formats=nothing)})

    assert [name for name, _ in first.list_name_plugin()] == ["one"]
    assert [name for name, _ in second.list_name_plugin()] == ["two"]


def test_import_time_is_read_from_the_given_clock() -> None:
    moments = iter([10.0, 12.5])

    loaded = load(
        extra={"one": plugin(register_formats=nothing)},
        entry_points=False,
        clock=lambda: next(moments),
    )

    assert loaded.plugins[0].seconds == 2.5


def test_answers_come_in_the_order_of_the_plugins_names_whatever_marks_they_carry() -> None:
    first = plugin(register_providers=hookimpl(tryfirst=True)(lambda: ["first", "too"]))
    last = plugin(register_providers=hookimpl(trylast=True)(lambda: ["last"]))
    manager = manager_of({"b": last, "a": first})

    assert answers(manager.hook.register_providers, []) == [
        ("a", "first"),
        ("a", "too"),
        ("b", "last"),
    ]


def test_a_hook_gets_the_arguments_it_asks_for() -> None:
    manager = manager_of(
        {
            "asks": plugin(register_routes=lambda host: [host]),
            "does-not": plugin(register_routes=lambda: ["nothing"]),
        }
    )
    problems: list[Problem] = []

    reported = answers(manager.hook.register_routes, problems, {"host": "its host"})

    assert reported == [("asks", "its host"), ("does-not", "nothing")]
    assert problems == []


def test_replies_are_given_as_they_are() -> None:
    seen: list[object] = []
    manager = manager_of(
        {
            "quiet": plugin(register_commands=lambda cli: seen.append(cli)),
            "broken": plugin(register_commands=lambda: 1 / 0),
        }
    )
    problems: list[Problem] = []

    reported = replies(manager.hook.register_commands, problems, {"cli": "group"})

    assert reported == [("quiet", None)]
    assert seen == ["group"]
    assert problems == [
        Problem("broken", "register_commands failed: ZeroDivisionError: division by zero", True)
    ]


def test_a_hook_that_hangs_does_not_hold_up_the_next_one() -> None:
    release = threading.Event()
    manager = manager_of(
        {
            "hangs": plugin(register_providers=lambda: release.wait()),
            "works": plugin(register_providers=lambda: [ProviderSpec(id="acme", name="Acme")]),
        }
    )
    problems: list[Problem] = []

    reported = answers(manager.hook.register_providers, problems, guard=LoadGuard(0.05))
    release.set()

    assert [name for name, _ in reported] == ["works"]
    assert problems[0].message == ("register_providers failed: did not finish within 0.05 s")


def test_a_hook_that_is_misspelt_is_told_with_the_one_that_may_be_meant() -> None:
    class Misspelt:
        @hookimpl
        def register_provider(self) -> list[object]:
            return []

    loaded = load(entry_points=False, extra={"acme": Misspelt()})

    [problem] = loaded.problems
    assert problem.message == "there is no hook register_provider; is register_providers meant?"
