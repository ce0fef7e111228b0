"""Which cases a plugin gets, by what it declares."""

from collections.abc import Iterable, Iterator

from .answers import answers, leaving, streams
from .broken import broken, odd
from .case import Case
from .counting import counting
from .declared import accepted, declared
from .habits import habits
from .importing import importing
from .manifest_again import manifest_again
from .refused import refused
from .shape import fitting, shape
from .subject import Route, Subject


def collected(subjects: Iterable[Subject], modules: tuple[str, ...]) -> Iterator[Case]:
    """Every case of these vendors; ``modules`` are those that can be imported by name."""
    for module in modules:
        yield from importing(module, modules)
    for subject in subjects:
        yield from declared(subject)
        if subject.module in modules:
            yield from manifest_again(subject, modules)
        if not subject.answers_itself:
            yield from _called(subject)


def _called(subject: Subject) -> Iterator[Case]:
    for number, route in enumerate(subject.routes()):
        full = subject.every_client or route.passes_through or number == 0
        yield from fitting(subject, route)
        for stream in (False, True):
            yield from shape(subject, route, stream=stream)
            yield from answers(subject, route, stream=stream)
            if full:
                yield from _suffered(subject, route, stream=stream, slow=number == 0)
        yield from streams(subject, route)
        if full:
            yield leaving(subject, route)
            yield from odd(subject, route)
            yield from habits(subject, route)


def _suffered(subject: Subject, route: Route, *, stream: bool, slow: bool) -> Iterator[Case]:
    """Silence costs half a second, so one way in has to do for it."""
    yield from counting(subject, route, stream=stream)
    yield from refused(subject, route, stream=stream)
    is_slow = slow and subject.thorough and (stream or subject.every_client)
    yield from broken(subject, route, stream=stream, slow=is_slow)


__all__ = ["accepted", "collected"]
