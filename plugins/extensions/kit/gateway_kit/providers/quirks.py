"""Cases about habits of real vendors, seen in recorded traffic."""

from collections.abc import Iterator

from gateway_kit.case import Case, expect
from gateway_kit.mock_vendor import Scene
from gateway_kit.mock_vendor.quirks import CALL, TEXT, Habit, habits_of

from .answers import read
from .chat_requests import question
from .harness import Bench
from .subject import Route, Subject

SAID = {"text": (TEXT, ()), "call": ("", (CALL,)), "nothing": ("", ())}


def habits(subject: Subject, route: Route) -> Iterator[Case]:
    """For a vendor of a format in which such habits were seen."""
    for name, habit in habits_of(route.wire.id):
        yield _habit(subject, route, name, habit)


def _habit(subject: Subject, route: Route, name: str, habit: Habit) -> Case:
    async def run(bench: Bench) -> None:
        scene = Scene(dialect=route.dialect, stream=habit.stream)
        asked = question(subject, route, stream=habit.stream, tools=habit.says == "call")
        answer = await bench.ask(asked, scene.said([habit.body]))
        found = read(subject, route, answer, stream=habit.stream)
        heard = (found.text, found.calls)
        expect(heard == SAID[habit.says], f"the client heard {found}")

    return Case(
        name=f"{subject.spec.id}: {route}: {name}, {habit.told}",
        advice="Do not insist on members that vendors leave out, repeat or spell otherwise.",
        run=run,
    )
