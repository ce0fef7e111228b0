"""The guard: foreign code runs elsewhere, for a while, and comes back as a value or a reason."""

import runpy
import threading
import time
from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import NoReturn

import pytest

from gateway_core.plugins.guard import LONGEST_REASON, LoadGuard, PluginFailed


class Mute(Exception):
    def __str__(self) -> NoReturn:
        raise RuntimeError


def raiser(error: BaseException) -> Callable[[], NoReturn]:
    def work() -> NoReturn:
        raise error

    return work


def spin() -> NoReturn:
    while True:
        pass


def test_the_result_comes_back() -> None:
    with LoadGuard(5) as guard:
        assert guard.run(lambda: 6 * 7) == 42


@pytest.mark.parametrize(
    ("error", "reason"),
    [
        (ValueError("two\nlines"), "ValueError: two lines"),
        (KeyError(), "KeyError"),
        (SystemExit(3), "tried to end the process with sys.exit(3)"),
        (KeyboardInterrupt(), "KeyboardInterrupt"),
        (Mute(), "Mute: its message cannot be shown"),
    ],
    ids=lambda value: type(value).__name__,
)
def test_whatever_is_raised_becomes_a_reason_in_one_line(error: BaseException, reason: str) -> None:
    with LoadGuard(5) as guard, pytest.raises(PluginFailed) as caught:
        guard.run(raiser(error))

    assert caught.value.reason == reason


def test_a_reason_is_kept_short() -> None:
    with LoadGuard(5) as guard, pytest.raises(PluginFailed) as caught:
        guard.run(raiser(ValueError("x" * 10_000)))

    assert len(caught.value.reason) == LONGEST_REASON


def test_the_traceback_is_kept_as_text() -> None:
    with LoadGuard(5) as guard, pytest.raises(PluginFailed) as caught:
        guard.run(lambda: 1 // 0)

    assert "1 // 0" in caught.value.trace


def test_one_thread_serves_every_call_that_comes_back() -> None:
    with LoadGuard(5) as guard:
        threads = {guard.run(threading.get_ident) for _ in range(10)}

    assert len(threads) == 1
    assert threads != {threading.get_ident()}


def test_a_call_that_fails_costs_no_thread() -> None:
    with LoadGuard(5) as guard:
        before = guard.run(threading.current_thread)
        with pytest.raises(PluginFailed):
            guard.run(raiser(SystemExit(1)))

        assert guard.run(threading.current_thread) is before


def test_the_thread_ends_with_the_guard() -> None:
    with LoadGuard(5) as guard:
        thread = guard.run(threading.current_thread)

    thread.join(5)
    assert not thread.is_alive()


def test_a_call_that_takes_too_long_is_given_up_and_the_next_one_works() -> None:
    release = threading.Event()

    with LoadGuard(0.05) as guard:
        with pytest.raises(PluginFailed, match=r"^did not finish within 0\.05 s$"):
            guard.run(release.wait)

        assert guard.run(lambda: "next") == "next"
    release.set()


def test_the_limits_of_calls_that_hang_run_side_by_side() -> None:
    release, threads = threading.Event(), list[int]()
    hangs = [release.wait] * 29
    limit = 1.0

    started = time.monotonic()
    with LoadGuard(limit) as guard:
        outcomes = guard.run_all(
            [lambda: threads.append(1) or "first", *hangs, lambda: threads.append(2) or "last"]
        )
    taken = time.monotonic() - started
    release.set()

    assert (outcomes[0], outcomes[-1], threads) == ("first", "last", [1, 2])
    assert [str(each) for each in outcomes[1:-1]] == ["did not finish within 1 s"] * 29
    assert taken < 29 * limit / 2


def test_a_call_that_waits_for_a_later_one_is_only_slow() -> None:
    reached = threading.Event()

    with LoadGuard(60) as guard:
        outcomes = guard.run_all([lambda: reached.wait(50), lambda: reached.set()])

    assert outcomes == [True, None]


def test_calls_in_turn_wait_for_one_another() -> None:
    release, seen = threading.Event(), list[str]()

    def hang() -> None:
        release.wait()
        seen.append("late")

    with LoadGuard(0.2) as guard:
        first, second = guard.run_all([hang, lambda: seen.append("next")], in_turn=True)
        release.set()

    assert isinstance(first, PluginFailed)
    assert second is None
    assert seen[0] == "next"


def test_a_slow_call_keeps_its_time_while_others_come_back() -> None:
    steps = [threading.Event() for _ in range(4)]

    def take(step: int) -> int:
        steps[step].wait(0.15)
        return step

    with LoadGuard(0.3) as guard:
        outcomes = guard.run_all(
            [lambda: steps[3].wait(5), *(partial(take, step) for step in range(3)), steps[3].set]
        )

    assert outcomes == [True, 0, 1, 2, None]


def test_a_busy_loop_that_was_given_up_is_ended() -> None:
    threads: list[threading.Thread] = []

    def work() -> NoReturn:
        threads.append(threading.current_thread())
        spin()

    with LoadGuard(0.05) as guard, pytest.raises(PluginFailed):
        guard.run(work)

    threads[0].join(5)
    assert not threads[0].is_alive()


def test_a_thread_that_comes_back_too_late_ends_and_says_nothing() -> None:
    release, threads = threading.Event(), list[threading.Thread]()

    def work() -> str:
        threads.append(threading.current_thread())
        release.wait()
        return "too late"

    with LoadGuard(0.05) as guard:
        with pytest.raises(PluginFailed):
            guard.run(work)
        release.set()
        threads[0].join(5)

        assert guard.run(lambda: "next") == "next"
    assert not threads[0].is_alive()


def test_helper_threads_never_hold_the_process() -> None:
    with LoadGuard(5) as guard:
        assert guard.run(lambda: threading.current_thread().daemon)
        assert guard.run(lambda: threading.Thread().daemon)


def run_source(tmp_path: Path, source: str) -> PluginFailed:
    """How a plugin's file fails."""
    file = tmp_path / "acme.py"
    file.write_text(source)
    with LoadGuard(5) as guard, pytest.raises(PluginFailed) as failed:
        guard.run(partial(runpy.run_path, str(file)))
    return failed.value


def test_the_traceback_begins_in_the_plugin_and_its_own_line_is_told(tmp_path: Path) -> None:
    failure = run_source(tmp_path, "import json\n\njson.loads('{')\n")

    assert "guard.py" not in failure.trace
    assert failure.trace.startswith("Traceback (most recent call last):")
    assert failure.place == "acme.py, line 3"


def test_a_syntax_error_tells_its_place_itself(tmp_path: Path) -> None:
    assert run_source(tmp_path, "compile('(', 'other.py', 'exec')").place == ""


def test_a_reason_moves_no_terminal(tmp_path: Path) -> None:
    failure = run_source(tmp_path, r"raise RuntimeError('a\x1b[31m\nb')")

    assert failure.reason == "RuntimeError: a[31m b"
