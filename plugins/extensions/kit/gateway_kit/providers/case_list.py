"""Which cases a plugin gets, by what it declares."""

from collections.abc import Iterable, Iterator

from gateway_core.plugins.tiers import Tier
from gateway_kit.case import Case, ranked

from .answers import answers, leaving, streams
from .broken_answers import broken, odd
from .declaration import declared
from .imports import importing
from .manifest_stability import manifest_again
from .quirks import habits
from .refusals import refused
from .services import services
from .subject import Route, Subject
from .usage import counting
from .vendor_requests import fitting, shape


def collected(subjects: Iterable[Subject], modules: tuple[str, ...]) -> Iterator[Case]:
    """Every case of these vendors; ``modules`` are those that can be imported by name."""
    for module in modules:
        yield from ranked(Tier.BRONZE, importing(module, modules))
    for subject in subjects:
        yield from ranked(Tier.BRONZE, _told(subject, modules))
        if not subject.answers_itself:
            yield from _called(subject)
        yield from services(subject)


def _told(subject: Subject, modules: tuple[str, ...]) -> Iterator[Case]:
    yield from declared(subject)
    if subject.module in modules:
        yield from manifest_again(subject, modules)


def _called(subject: Subject) -> Iterator[Case]:
    for number, route in enumerate(subject.routes()):
        full = subject.every_client or route.passes_through or number == 0
        yield from ranked(Tier.SILVER, _sound(subject, route, full=full))
        yield from ranked(Tier.GOLD, _suffered(subject, route, full=full, slow=number == 0))


def _sound(subject: Subject, route: Route, *, full: bool) -> Iterator[Case]:
    """What is asked, and what is said, in good health."""
    yield from fitting(subject, route)
    for stream in (False, True):
        yield from shape(subject, route, stream=stream)
        yield from answers(subject, route, stream=stream)
        if full:
            yield from counting(subject, route, stream=stream)
            yield from refused(subject, route, stream=stream)


def _suffered(subject: Subject, route: Route, *, full: bool, slow: bool) -> Iterator[Case]:
    """Silence costs half a second, so one way in has to do for it."""
    yield from streams(subject, route)
    if not full:
        return
    for stream in (False, True):
        is_slow = slow and subject.thorough and (stream or subject.every_client)
        yield from broken(subject, route, stream=stream, slow=is_slow)
    yield leaving(subject, route)
    yield from odd(subject, route)
    yield from habits(subject, route)
