"""What an extension registers besides routes is exercised, and nothing is a tier without it."""

import threading
import time
import tomllib
from collections.abc import AsyncIterator, Callable, Iterator
from contextlib import asynccontextmanager
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest
from gateway_kit.extensions import ExtensionSuite
from gateway_kit.results import check, find

from gateway_core import AccountScore, LimitReached, SharedLimits, hookimpl

EXTENSIONS = Path(__file__).parents[2] / "plugins" / "extensions"
TIERS = {
    "alerts": ("gold", ()),
    "cache": ("gold", ()),
    "config": ("silver", ()),
    "dashboard": ("gold", ()),
    "guardrails": ("gold", ()),
    "kit": ("silver", ()),
    "mcp": ("gold", ()),
    "object-store": ("bronze", ("file contents: exercised", "file contents: keeps contents")),
    "telemetry": ("gold", ()),
    "valkey": ("bronze", ("shared state: exercised",)),
}
"""By folder: the tier, and what cannot be exercised without a server."""


class Counts:
    """A shared state in memory."""

    trouble = ""

    def __init__(self) -> None:
        self.calls: dict[str, int] = {}
        self.running: dict[str, int] = {}
        self.tokens: dict[str, int] = {}

    @asynccontextmanager
    async def connect(self, adopt: object) -> AsyncIterator[None]:
        yield

    async def admit(self, name: str, limits: SharedLimits) -> LimitReached | None:
        used = (
            ("requests", limits.requests, self.calls),
            ("tokens", limits.tokens, self.tokens),
            ("at_once", limits.at_once, self.running),
        )
        for kind, most, counts in used:
            if most is not None and counts.get(name, 0) >= most:
                return LimitReached(kind, counts[name], 1.0)  # type: ignore[arg-type]
        self.calls[name] = self.calls.get(name, 0) + 1
        self.running[name] = self.running.get(name, 0) + 1
        return None

    def withdraw(self, name: str) -> None:
        self.calls[name] -= 1
        self.running[name] -= 1

    def leave(self, name: str) -> None:
        self.running[name] -= 1

    def record(self, name: str, tokens: int) -> None:
        self.tokens[name] = self.tokens.get(name, 0) + tokens

    def publish(self, rest: object) -> None: ...


class Contents:
    """Contents in memory."""

    def __init__(self) -> None:
        self.kept: dict[str, bytes] = {}

    def create(self, key: str) -> Any:
        pieces: list[bytes] = []

        def finish() -> None:
            self.kept[key] = b"".join(pieces)

        return SimpleNamespace(write=pieces.append, finish=finish, abandon=pieces.clear)

    def open(self, key: str, begin: int, end: int) -> Any:
        if key not in self.kept:
            raise FileNotFoundError(key)
        left = [self.kept[key][begin:end]]

        def read(most: int) -> bytes:
            piece, left[0] = left[0][:most], left[0][most:]
            return piece

        return SimpleNamespace(read=read, close=lambda: None)

    def remove(self, key: str) -> None:
        self.kept.pop(key, None)

    def check(self) -> tuple[bool, str]:
        return True, "in memory"


def fail(*words: object) -> Any:
    raise RuntimeError("a bug")


async def admit_all(name: str, limits: SharedLimits) -> None:
    return None


STATES: dict[str, Callable[[Counts], object]] = {
    "away": lambda each: setattr(each, "trouble", "no server answers"),
    "admits all": lambda each: setattr(each, "admit", admit_all),
    "blocks": lambda each: setattr(
        each, "admit", lambda name, limits: (time.sleep(0.3), admit_all(name, limits))[1]
    ),
    "one name for all": lambda each: setattr(each, "calls", SingleCount()),
    "withdraws nothing": lambda each: setattr(each, "withdraw", lambda name: None),
    "nobody leaves": lambda each: setattr(each, "leave", lambda name: None),
    "no tokens": lambda each: setattr(each, "record", lambda name, tokens: None),
    "rests are not known": lambda each: setattr(each, "publish", fail),
    "scores are not known": lambda each: setattr(
        each, "publish", lambda news: fail() if isinstance(news, AccountScore) else None
    ),
    "cannot connect": lambda each: setattr(each, "connect", fail),
}
CONTENTS: dict[str, Callable[[Contents], object]] = {
    "away": lambda each: setattr(each, "check", lambda: (False, "no store answers")),
    "check raises": lambda each: setattr(each, "check", fail),
    "check is silent": lambda each: setattr(each, "check", lambda: None),
    "writes are lost": lambda each: setattr(each, "kept", Forgetful()),
    "nothing is removed": lambda each: setattr(each, "remove", lambda key: None),
    "removed once only": lambda each: setattr(each, "remove", lambda key: each.kept.pop(key)),
    "whole for a part": lambda each: setattr(
        each, "open", lambda key, begin, end, open=each.open: open(key, 0, 10**9)
    ),
    "another error": lambda each: setattr(each, "open", lambda key, begin, end: each.kept[key]),
    "in one thread only": lambda each: setattr(each, "create", of_one_thread(each.create)),
}


class SingleCount(dict[str, int]):
    def get(self, name: str, default: Any = None) -> Any:
        return max([*self.values(), 0])


class Forgetful(dict[str, bytes]):
    def __setitem__(self, key: str, value: bytes) -> None:
        super().__setitem__(key, value[:7])


def of_one_thread(create: Callable[[str], Any]) -> Callable[[str], Any]:
    def guarded(key: str) -> Any:
        if threading.current_thread() is not threading.main_thread():
            raise RuntimeError("another thread")
        return create(key)

    return guarded


def failures(hook: str, thing: object, folder: Path, about: str) -> Iterator[str]:
    plugin = SimpleNamespace(**{hook: hookimpl(lambda: [] if thing is None else [thing])})
    suite = ExtensionSuite(plugin)
    try:
        for case in suite.cases():
            failure = suite.run(case, folder) if about in case.name else None
            if failure is not None:
                yield failure
    finally:
        suite.close()


@pytest.mark.parametrize(
    ("hook", "thing", "about"),
    [
        ("register_shared_state", Counts(), "shared state"),
        ("register_file_contents", Contents(), "file contents"),
    ],
    ids=["shared state", "file contents"],
)
def test_a_sound_one_passes(hook: str, thing: object, about: str, tmp_path: Path) -> None:
    assert list(failures(hook, thing, tmp_path, about)) == []


@pytest.mark.parametrize("bug", STATES)
def test_a_bug_in_a_shared_state_is_found(bug: str, tmp_path: Path) -> None:
    state = Counts()
    STATES[bug](state)

    assert list(failures("register_shared_state", state, tmp_path, "shared state"))


@pytest.mark.parametrize("bug", CONTENTS)
def test_a_bug_in_file_contents_is_found(bug: str, tmp_path: Path) -> None:
    contents = Contents()
    CONTENTS[bug](contents)

    assert list(failures("register_file_contents", contents, tmp_path, "file contents"))


@pytest.mark.parametrize("hook", ["register_shared_state", "register_observation"])
def test_what_registers_nothing_is_not_exercised_and_says_what_to_declare(
    hook: str, tmp_path: Path
) -> None:
    [failure] = failures(hook, None, tmp_path, "exercised")

    assert f"{hook} gives nothing. Declare settings with which it does its work, in CONF" in failure


@pytest.mark.parametrize("folder", sorted(EXTENSIONS.iterdir()), ids=lambda folder: folder.name)
def test_every_bundled_extension_has_a_verdict(folder: Path) -> None:
    project = tomllib.loads((folder / "pyproject.toml").read_text())["project"]
    [name] = project["entry-points"]["model_gateway"]

    results = check(find(name))

    assert [each.message for each in results.failures] == []
    expected = tuple(each.case.partition(": ")[2] for each in results.expected)
    assert (results.tier, expected) == TIERS[folder.name]


@pytest.mark.parametrize("name", ["valkey", "object-store", "telemetry"])
def test_a_short_name_means_the_bundled_extension(name: str) -> None:
    assert find(name).name == f"extension-{name}"
