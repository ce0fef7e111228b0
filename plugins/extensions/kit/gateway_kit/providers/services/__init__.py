"""Cases about a provider's services besides chat, one set for each kind that it declares.

The gateway routes chat alone, so these look at the exchange that a service's
adapter opens: what it asks of the vendor, and what it makes of the answer.
"""

from collections.abc import Iterator

from gateway_core.plugins.tiers import Tier
from gateway_kit.case import Case, ranked

from ..service_samples import SAMPLES, ServiceSample
from ..subject import Subject
from .answers import answers, torn
from .junk import junk
from .refusals import refusals
from .requests import requests
from .service_call import each_service

__all__ = ["SAMPLES", "ServiceSample", "services"]


def services(subject: Subject) -> Iterator[Case]:
    """Every case of the services that a vendor declares."""
    for asking in each_service(subject):
        yield from ranked(Tier.SILVER, requests(asking))
        yield from ranked(Tier.SILVER, answers(asking))
        yield from ranked(Tier.SILVER, refusals(asking))
        yield from ranked(Tier.GOLD, torn(asking))
        yield from ranked(Tier.GOLD, junk(asking))
