"""Which cases a plugin gets, by what it declares."""

from collections.abc import Iterable, Iterator

from gateway_administration.plugins.tiers import Tier
from gateway_kit.abilities import STREAM
from gateway_kit.case import Case, with_tier

from .answers import answer_cases, early_leave_case, stream_cases
from .broken_answers import broken_answer_cases, odd_framing_cases
from .conduct import account_cases, conduct_cases
from .declaration import declaration_cases, exercised_case
from .imports import import_cases
from .lacking import lacking_cases
from .manifest_stability import manifest_cases
from .plausibility import plausibility_cases
from .quirks import quirk_cases
from .refusals import refusal_cases
from .services import service_cases
from .subject import ProviderUnderTest, Route
from .usage import usage_cases
from .vendor_requests import member_cases, request_cases


def build_cases(subjects: Iterable[ProviderUnderTest], modules: tuple[str, ...]) -> Iterator[Case]:
    """Every case of these vendors; ``modules`` are those that can be imported by name."""
    for module in modules:
        yield from with_tier(Tier.BRONZE, import_cases(module, modules))
    for subject in subjects:
        yield from with_tier(Tier.BRONZE, declaration_cases(subject))
        yield from with_tier(Tier.BRONZE, plausibility_cases(subject))
        if subject.module in modules:
            yield from with_tier(Tier.BRONZE, manifest_cases(subject, modules))
        if subject.models() and not subject.answers_itself:
            yield from with_tier(Tier.SILVER, [exercised_case(subject)])
        if not subject.answers_itself:
            for number, route in enumerate(subject.routes()):
                full = subject.every_client or route.passes_through or number == 0
                yield from with_tier(Tier.SILVER, _ordinary_cases(subject, route, full=full))
                yield from with_tier(Tier.SILVER, lacking_cases(subject, route))
                if full:
                    yield from with_tier(Tier.SILVER, conduct_cases(subject, route))
                    yield from with_tier(Tier.SILVER, account_cases(subject, route))
                yield from with_tier(
                    Tier.GOLD, _fault_cases(subject, route, full=full, slow=number == 0)
                )
        yield from service_cases(subject)


def _ordinary_cases(subject: ProviderUnderTest, route: Route, *, full: bool) -> Iterator[Case]:
    """Requests and answers without a fault."""
    yield from member_cases(subject, route)
    for stream in (False, True):
        yield from request_cases(subject, route, stream=stream)
        yield from answer_cases(subject, route, stream=stream)
        if full:
            yield from usage_cases(subject, route, stream=stream)
            yield from refusal_cases(subject, route, stream=stream)


def _fault_cases(
    subject: ProviderUnderTest, route: Route, *, full: bool, slow: bool
) -> Iterator[Case]:
    """Silence costs half a second, so one way in has to do for it."""
    yield from stream_cases(subject, route)
    if not full:
        return
    for stream in (False,) if STREAM in subject.lacks else (False, True):
        is_slow = slow and subject.thorough and (stream or subject.every_client)
        yield from broken_answer_cases(subject, route, stream=stream, slow=is_slow)
    if STREAM in subject.lacks:
        return
    yield early_leave_case(subject, route)
    yield from odd_framing_cases(subject, route)
    yield from quirk_cases(subject, route)
