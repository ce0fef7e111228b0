"""Cases about a provider's services besides chat, one set for each kind that it declares.

The gateway routes chat alone, so these look at the exchange that a service's
adapter opens: what it asks of the vendor, and what it makes of the answer.
"""

from collections.abc import Iterator

from gateway_administration.plugins.tiers import Tier
from gateway_kit.case import Case, with_tier

from ..service_samples import SAMPLES, ServiceSample
from ..subject import ProviderUnderTest
from .answers import answer_cases, torn_answer_cases
from .conduct import account_data_cases, conduct_cases
from .files import file_cases
from .jobs import job_cases
from .junk import junk_cases
from .many import many_cases
from .options import option_cases
from .refusals import refusal_cases
from .requests import request_cases
from .service_call import service_calls
from .units import unit_cases

__all__ = ["SAMPLES", "ServiceSample", "service_cases"]


def service_cases(subject: ProviderUnderTest) -> Iterator[Case]:
    """Every case of the services that a vendor declares."""
    calls = list(service_calls(subject))
    yield from with_tier(Tier.SILVER, account_data_cases(calls))
    for call in calls:
        yield from with_tier(Tier.SILVER, option_cases(call))
        yield from with_tier(Tier.SILVER, file_cases(call))
        yield from with_tier(Tier.SILVER, conduct_cases(call))
        if not call.is_answered:
            continue
        yield from with_tier(Tier.SILVER, request_cases(call))
        yield from with_tier(Tier.SILVER, answer_cases(call))
        yield from with_tier(Tier.SILVER, many_cases(call))
        yield from with_tier(Tier.SILVER, unit_cases(call))
        yield from with_tier(Tier.SILVER, job_cases(call))
        yield from with_tier(Tier.SILVER, refusal_cases(call))
        yield from with_tier(Tier.GOLD, torn_answer_cases(call))
        yield from with_tier(Tier.GOLD, junk_cases(call))
