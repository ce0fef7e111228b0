"""Cases about conduct: what a call of a service leaves behind, and what it takes from another."""

from collections.abc import Iterator, Sequence

from msgspec.structs import replace

from gateway_core.upstream.allowed_hosts import origin_of
from gateway_kit.case import Case, expect, expect_none
from gateway_kit.witness import Witness

from ..harness import ProviderHarness
from ..subject import Account
from .options import CONTENTS
from .requests import is_declared
from .service_call import ServiceCall, name_of
from .traces import leaves, texts_of, trace, with_members

OTHER_KEY = "4739"
OWN_HOST = "https://own.kit.example/"
OWN_BASE = f"{OWN_HOST}base-4740"
_BASE = "baseUrl"


def conduct_cases(call: ServiceCall) -> Iterator[Case]:
    async def quiet(harness: ProviderHarness) -> None:
        with Witness() as witness:
            for members in ({}, *CONTENTS.get(name_of(call.service), ())):
                trace(with_members(call, members) if members else call)
        secret = call.subject.account.secret
        words = [
            text
            for each in CONTENTS.get(name_of(call.service), ())[:1]
            for text in leaves([*each.values()])
        ]
        words += [word.decode("utf-8", "replace") for word in call.sample.shown if len(word) > 4]
        leaks = [word for word in (*words, secret) if word and word in witness.text]
        expect(not leaks, f"in the log or the output: {leaks}")
        expect_none(f"{path} is written to" for path in witness.written)

    async def accounts(harness: ProviderHarness) -> None:
        expect_none(account_faults(call))

    async def headers(harness: ProviderHarness) -> None:
        spec, sent = call.subject.spec, call.request().headers
        lost = [name for name in spec.headers if name.lower() not in sent]
        expect(not lost, f"without the header {', '.join(lost)} that the ProviderSpec declares")

    yield call.case(
        "keeps quiet", "Neither log, print nor write down what is asked and answered.", quiet
    )
    yield call.case("accounts apart", "Take the key from the credential of each call.", accounts)
    if call.subject.spec.headers:
        yield call.case("headers", "Send the headers that the ProviderSpec declares.", headers)


def account_data_cases(calls: Sequence[ServiceCall]) -> Iterator[Case]:
    """One case for all services of a vendor: what an account has may be for one of them alone."""
    if not calls or not (calls[0].subject.account.data or _has_own_base(calls[0])):
        return

    async def data(harness: ProviderHarness) -> None:
        expect_none(data_faults(calls))

    yield Case(
        name=f"{calls[0].subject.spec.id}: services: an account's data",
        advice="Use what an account has beside its key, such as its address.",
        run=data,
    )


def account_faults(call: ServiceCall) -> Iterator[str]:
    """What two calls that come one after the other have of one another."""
    own = call.subject.account
    if own.secret is None:
        return
    other = Account(secret=own.secret[: -len(OTHER_KEY)] + OTHER_KEY, data=own.data)
    first = trace(call)
    members = next(iter(CONTENTS.get(name_of(call.service), ())), {})
    asked = with_members(call, members) if members else call
    second = trace(with_account(asked, other))
    again = trace(call)
    if first != again:
        yield "a call differs from an equal one before it, once another was made between them"
    if own.secret in texts_of(second.requests) or str(other.secret) in texts_of(again.requests):
        yield "one account's key is in another's request"


def data_faults(calls: Sequence[ServiceCall]) -> Iterator[str]:
    """Which data of an account change nothing, or lead to hosts that are not declared."""
    subject = calls[0].subject
    own = subject.account
    for name, value in own.data.items():
        if not isinstance(value, str) or "://" in value:
            continue
        account = Account(secret=own.secret, data={**own.data, name: "kit-4741"})
        changed = [with_account(call, account) for call in calls]
        seen = [trace(call) for call in changed]
        is_chat = bool(subject.models())
        if not is_chat and [each.requests for each in seen] == [trace(c).requests for c in calls]:
            yield f"{name} of the account changes nothing"
        for call, each in zip(changed, seen, strict=True):
            for request in each.requests[:1]:
                if not is_declared(request.url, call):
                    yield f"with another {name} it sends to {origin_of(request.url)}"
    if _has_own_base(calls[0]):
        based = Account(secret=own.secret, data={**own.data, _BASE: OWN_BASE})
        for request in (r for c in calls for r in trace(with_account(c, based)).requests[:1]):
            if not request.url.startswith(OWN_HOST):
                yield f"with an address of its own the account is asked at {request.url}"


def with_account(call: ServiceCall, account: Account) -> ServiceCall:
    return replace(call, subject=replace(call.subject, account=account))


def _has_own_base(call: ServiceCall) -> bool:
    """Whether accounts name their address, by a setting or a variable."""
    spec = call.subject.spec
    return spec.base_url_setting is not None or _BASE in (spec.environment_data or {}).values()
