"""Which credential opens which class of route, written out, and compared with the rules."""

from typing import Any, cast

import pytest
from parametrize_ids import parametrize_id

from gateway_core.contracts.errors import (
    Forbidden,
    GatewayError,
    InvalidKey,
    LocalOnly,
    Unauthorized,
)
from gateway_core.identity.access import CLIENT, REMOTE, RULES, SURFACE_KEY, Access, permit
from gateway_core.identity.caller import Caller, Session
from gateway_core.identity.keys import Key
from gateway_core.identity.peers import Peer
from gateway_core.identity.policy import Policy

HERE = Peer("127.0.0.1", via_proxy=False, is_loopback=True)
AWAY = Peer("192.0.2.7", via_proxy=False, is_loopback=False)


def key(*, restricted: bool = False, inference_only: bool = False) -> Key:
    return Key(
        id="k",
        name="k",
        digest=b"",
        is_active=True,
        expires_at=None,
        allowed_combos=frozenset(),
        policy=Policy(),
        connections=frozenset(),
        has_limits=restricted,
        is_restricted=restricted,
        inference_only=inference_only,
    )


def shown(**more: Any) -> dict[str, Any]:
    return {"has_shown": True, **more}


CALLERS: dict[str, Caller] = {
    "nobody here": Caller(peer=HERE, is_local=True),
    "nobody away": Caller(peer=AWAY),
    "open": Caller(peer=HERE, is_local=True, is_open=True),
    "cli away": Caller(peer=AWAY, is_cli=True),
    "key here": Caller(peer=HERE, is_local=True, **shown(key=key())),
    "key away": Caller(peer=AWAY, **shown(key=key())),
    "restricted away": Caller(peer=AWAY, **shown(key=key(restricted=True))),
    "refused here": Caller(peer=HERE, is_local=True, **shown(was_refused=True)),
    "refused away": Caller(peer=AWAY, **shown(was_refused=True)),
    "unknown here": Caller(peer=HERE, is_local=True, **shown()),
    "unknown away": Caller(peer=AWAY, **shown()),
    "session here": Caller(peer=HERE, is_local=True, session=Session()),
    "session away": Caller(peer=AWAY, session=Session()),
}
EVERYBODY = set(CALLERS)
SESSIONS = {"session here", "session away"}
KEYS = {"key here", "key away", "restricted away"}
LOCALS = {"nobody here", "open", "key here", "unknown here", "session here"}
READERS: dict[Access, set[str]] = {
    Access.PUBLIC: EVERYBODY,
    Access.ISOLATED: EVERYBODY,
    Access.INFERENCE: {"cli away", *KEYS, *LOCALS},
    Access.CATALOG: {"cli away", *KEYS, *LOCALS, *SESSIONS},
    Access.MANAGEMENT: {"cli away", "open", *KEYS, *SESSIONS},
    Access.OWN_KEY: {"cli away", "open", *KEYS, *SESSIONS},
    Access.OPERATOR: {"cli away", "open", *SESSIONS},
    Access.SESSION: SESSIONS,
    Access.PROTECTED: {"cli away", *SESSIONS},
    Access.LOCAL: {"cli away", "open", "session here"},
    Access.COMMAND_LINE: {"cli away"},
    Access.SURFACE: {"cli away", *LOCALS, "refused here"},
    Access.CONTROL: {"cli away", *KEYS, *LOCALS, *SESSIONS},
}
"""Who may ask, by the class of the route."""


def refusal(access: Access, caller: str, method: str = "GET", **more: Any) -> GatewayError | None:
    try:
        permit(access, CALLERS[caller], method, **more)
    except GatewayError as error:
        return error
    return None


def test_every_class_has_a_rule_and_every_rule_says_what_it_is_for() -> None:
    assert set(RULES) == set(Access) == set(READERS)
    assert all(rule.about.endswith(".") for rule in RULES.values())


@pytest.mark.parametrize("access", Access)
def test_whom_a_class_lets_in(access: Access) -> None:
    assert {name for name in CALLERS if refusal(access, name) is None} == READERS[access]


@pytest.mark.parametrize("access", Access)
def test_only_a_restricted_key_reads_what_it_may_not_change(access: Access) -> None:
    changed = {name for name in CALLERS if refusal(access, name, "POST") is None}

    lost = {"restricted away"} if access is Access.MANAGEMENT else set()
    assert changed == READERS[access] - lost


@pytest.mark.parametrize("method", ["PUT", "PATCH", "DELETE", "get", "PROPFIND", ""])
def test_whatever_is_not_known_to_be_harmless_counts_as_a_change(method: str) -> None:
    assert isinstance(refusal(Access.MANAGEMENT, "restricted away", method), Forbidden)


@pytest.mark.parametrize("access", Access)
def test_a_key_reveals_no_secret(access: Access) -> None:
    revealed = {name for name in CALLERS if refusal(access, name, reveals=True) is None}

    assert revealed == READERS[access] - (KEYS if access is Access.MANAGEMENT else set())


@pytest.mark.parametrize(
    ("access", "caller", "kind", "message"),
    [
        (Access.INFERENCE, "nobody away", Unauthorized, REMOTE),
        (Access.INFERENCE, "unknown away", InvalidKey, "Invalid API key"),
        (Access.INFERENCE, "refused away", InvalidKey, "Invalid API key"),
        (Access.INFERENCE, "refused here", InvalidKey, "Invalid API key"),
        (Access.INFERENCE, "session away", Unauthorized, REMOTE),
        (Access.CATALOG, "nobody away", Unauthorized, REMOTE),
        (Access.CATALOG, "refused here", InvalidKey, "Invalid API key"),
        (Access.MANAGEMENT, "nobody here", Unauthorized, "Unauthorized"),
        (Access.MANAGEMENT, "unknown away", Unauthorized, "Unauthorized"),
        (Access.OPERATOR, "key away", Forbidden, "An API key cannot be used here"),
        (Access.SESSION, "cli away", Unauthorized, "Unauthorized"),
        (Access.SESSION, "open", Unauthorized, "Unauthorized"),
        (Access.PROTECTED, "open", Unauthorized, "Unauthorized"),
        (Access.PROTECTED, "key here", Forbidden, "An API key cannot be used here"),
        (Access.LOCAL, "session away", LocalOnly, "Local only: CLI token required"),
        (Access.LOCAL, "key away", LocalOnly, "Local only: CLI token required"),
        (Access.LOCAL, "nobody here", LocalOnly, "Local only: CLI token required"),
        (Access.COMMAND_LINE, "session here", LocalOnly, "Local only: CLI token required"),
        (Access.COMMAND_LINE, "open", LocalOnly, "Local only: CLI token required"),
        (Access.COMMAND_LINE, "key here", Forbidden, "An API key cannot be used here"),
        (Access.SURFACE, "nobody away", Unauthorized, SURFACE_KEY),
    ],
    ids=parametrize_id,
)
def test_what_the_others_are_told(
    access: Access, caller: str, kind: type[GatewayError], message: str
) -> None:
    reported = refusal(access, caller)

    assert type(reported) is kind
    assert reported.message == message


@pytest.mark.parametrize("caller", sorted(EVERYBODY))
def test_a_route_of_no_known_class_is_shut(caller: str) -> None:
    reported = refusal(cast(Access, "whatever"), caller)

    assert reported is not None
    assert reported.status in (401, 403)


def test_client_routes_are_those_where_keys_and_local_callers_go_together() -> None:
    together = {access for access, rule in RULES.items() if rule.key and rule.local}

    assert together == {*CLIENT, Access.CONTROL}


@pytest.mark.parametrize("method", ["GET", "POST"])
def test_a_key_for_inference_only_is_refused_where_the_gateway_is_managed(method: str) -> None:
    caller = Caller(peer=AWAY, **shown(key=key(inference_only=True)))

    with pytest.raises(Forbidden, match="for inference only"):
        permit(Access.MANAGEMENT, caller, method)
    for access in (Access.INFERENCE, Access.CATALOG, Access.OWN_KEY, Access.PUBLIC):
        permit(access, caller, method)
