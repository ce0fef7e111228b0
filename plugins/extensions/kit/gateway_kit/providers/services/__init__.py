"""Cases about a provider's services besides chat, one set for each kind that it declares.

The gateway routes chat alone, so these look at the exchange that a service's
adapter opens: what it asks of the vendor, and what it makes of the answer.
"""

from collections.abc import Iterator

from gateway_core.plugins.tiers import Tier
from gateway_kit.case import Case, with_tier

from ..service_samples import SAMPLES, ServiceSample
from ..subject import ProviderUnderTest
from .answers import answer_cases, torn_answer_cases
from .junk import junk_cases
from .refusals import refusal_cases
from .requests import request_cases
from .service_call import service_calls

__all__ = ["SAMPLES", "ServiceSample", "service_cases"]


def service_cases(subject: ProviderUnderTest) -> Iterator[Case]:
    """Every case of the services that a vendor declares."""
    for call in service_calls(subject):
        yield from with_tier(Tier.SILVER, request_cases(call))
        yield from with_tier(Tier.SILVER, answer_cases(call))
        yield from with_tier(Tier.SILVER, refusal_cases(call))
        yield from with_tier(Tier.GOLD, torn_answer_cases(call))
        yield from with_tier(Tier.GOLD, junk_cases(call))
