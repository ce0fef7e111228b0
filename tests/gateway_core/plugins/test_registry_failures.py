"""Plugins that fail while they are asked what they register."""

from collections.abc import Iterable

from plugin_registries import OTHER, PLAIN, plugin, record, registry_of

from gateway_core.plugins import Problem, State, load
from gateway_core.plugins.registry import build


def broken() -> Iterable[object]:
    raise RuntimeError("no")


def no_routes() -> list[object]:
    return []


def test_a_plugin_that_fails_in_one_hook_is_switched_off_as_a_whole() -> None:
    extra = {
        "good": plugin(formats=[OTHER]),
        "half": plugin(formats=[PLAIN], providers=broken, routes=no_routes),
    }
    loaded = load(extra=extra, entry_points=False)

    registry = build(loaded)

    assert list(registry.formats) == ["other"]
    assert registry.problems == (
        Problem("half", "register_providers failed: RuntimeError: no", fatal=True),
    )
    assert record(registry, "half").state is State.FAILED
    assert record(registry, "half").error == "register_providers failed: RuntimeError: no"
    assert loaded.manager.hook.register_routes.get_hookimpls() == []


def test_a_plugin_that_failed_once_is_not_asked_again() -> None:
    received: list[str] = []

    registry_of({"half": plugin(formats=broken, providers=lambda: received.append("again"))})

    assert received == []


def test_a_plugin_with_other_work_is_not_failed_by_a_refused_answer() -> None:
    registry = registry_of({"a": plugin(formats=["rubbish"], routes=no_routes)})

    assert record(registry, "a").state is State.LOADED
    assert len(registry.problems) == 1
