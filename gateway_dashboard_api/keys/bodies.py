"""The bodies of requests about gateway keys: which members may be written (2.1, 2.2).

A member that is not listed here is refused by name, unless the row shows it; in ``policy``
unknown ones are kept, unless they look like a restriction.
"""

from collections.abc import Mapping
from typing import Annotated, Any

from msgspec import UNSET, Meta, Struct, UnsetType

from gateway_administration.stores.keys import KeyChange
from gateway_core.contracts.errors import BadRequest
from gateway_core.identity.policy import amount, checked
from gateway_core.storage.moments import iso, seconds

from .near_misses import check_policy
from .views import KeyRow

LONGEST_NAME = 200
MOST_NAMES = 500
DAILY = "dailyLimitTokens"
Limit = int | float | str | UnsetType | None
"""A number; ``null`` and ``""`` mean that there is no limit."""


class PolicyMembers(Struct, frozen=True, kw_only=True, rename="camel"):
    """Members of the policy that may also stand beside it, where they win."""

    allowed_models: list[str] | UnsetType | None = UNSET
    allow_auto_combos: bool | UnsetType | None = UNSET
    model_access: dict[str, Any] | UnsetType | None = UNSET
    max_tokens: Limit = UNSET
    max_cost_usd: Limit = UNSET
    rpm_limit: Limit = UNSET
    tpm_limit: Limit = UNSET
    daily_limit_tokens: Limit = UNSET
    daily_input_token_limit: Limit = UNSET
    daily_output_token_limit: Limit = UNSET
    monthly_token_limit: Limit = UNSET
    monthly_input_token_limit: Limit = UNSET
    monthly_output_token_limit: Limit = UNSET
    monthly_request_limit: Limit = UNSET
    monthly_budget: Limit = UNSET


class KeyBody(PolicyMembers, frozen=True, kw_only=True, rename="camel"):
    """A change of a key; what is left out stays."""

    name: str | UnsetType = UNSET
    is_active: bool | UnsetType = UNSET
    inference_only: bool | UnsetType = UNSET
    """Whether management routes are refused to it."""
    expires_at: str | UnsetType | None = UNSET
    """ISO text with its zone; ``null`` means never."""
    allowed_combos: tuple[str, ...] | UnsetType = UNSET
    policy: dict[str, Any] | UnsetType = UNSET
    provider_connection_ids: tuple[str, ...] | UnsetType = UNSET
    groups: tuple[str, ...] | UnsetType = UNSET


class NewKeyBody(KeyBody, frozen=True, kw_only=True, rename="camel"):
    machine_id: str | UnsetType | None = UNSET
    """Has to be there; the gateway's own is used whatever it says."""


class KeyGroupBody(Struct, frozen=True, kw_only=True, rename="camel"):
    name: str | UnsetType = UNSET
    color: str | UnsetType | None = UNSET
    key_ids: tuple[str, ...] | UnsetType = UNSET


_BESIDE = dict(
    zip(PolicyMembers.__struct_encode_fields__, PolicyMembers.__struct_fields__, strict=True)
)

_BESIDE_POLICY = frozenset(
    (*NewKeyBody.__struct_encode_fields__, *KeyRow.__struct_encode_fields__, "key")
) - {*_BESIDE}


def read_new_key(body: NewKeyBody) -> KeyChange:
    """Read a new key. Raises BadRequest."""
    if body.name is UNSET:
        raise BadRequest("Name is required")
    if not isinstance(body.machine_id, str) or not body.machine_id.strip():
        raise BadRequest("machineId is required")
    return read_key_change(body)


def read_key_change(body: KeyBody) -> KeyChange:
    """Read a change of a key. Raises BadRequest."""
    members = _policy(body)
    daily: Any = members.pop(DAILY, UNSET)
    if daily is not UNSET:
        tokens = amount(DAILY, daily)
        daily = int(tokens) if tokens else None
    return KeyChange(
        name=UNSET if body.name is UNSET else check_name(body.name),
        is_active=body.is_active,
        inference_only=body.inference_only,
        expires_at=_moment(body.expires_at),
        allowed_combos=check_names("allowedCombos", body.allowed_combos),
        policy=checked(members) if members else UNSET,
        daily_limit_tokens=daily,
        provider_connection_ids=body.provider_connection_ids,
        groups=check_names("groups", body.groups),
    )


def check_name(name: str) -> str:
    """Strip a name. Raises BadRequest for an empty or too long one."""
    text = name.strip()
    if not text:
        raise BadRequest("Name is required")
    if len(text) > LONGEST_NAME:
        raise BadRequest(f"Invalid name: at most {LONGEST_NAME} characters are possible")
    return text


def check_names(field: str, values: tuple[str, ...] | UnsetType) -> tuple[str, ...] | UnsetType:
    """Strip names and remove duplicates. Raises BadRequest for an invalid one."""
    if values is UNSET:
        return UNSET
    texts = tuple(dict.fromkeys(text.strip() for text in values))
    if len(texts) > MOST_NAMES or any(not 0 < len(text) <= LONGEST_NAME for text in texts):
        raise BadRequest(
            f"Invalid {field}: at most {MOST_NAMES} names of 1 to {LONGEST_NAME} characters"
        )
    return texts


def _policy(body: KeyBody) -> dict[str, Any]:
    inside: Mapping[str, Any] = {} if body.policy is UNSET else body.policy
    check_policy({name: value for name, value in inside.items() if name != DAILY}, _BESIDE_POLICY)
    beside = {name: getattr(body, field) for name, field in _BESIDE.items()}
    set_beside = {name: value for name, value in beside.items() if value is not UNSET}
    # Names like __proto__ are special to JavaScript clients that read a policy.
    return {n: v for n, v in {**inside, **set_beside}.items() if not n.startswith("__")}


def _moment(text: str | UnsetType | None) -> str | UnsetType | None:
    """Convert a time to its stored form. Raises BadRequest without a valid time and zone."""
    if text is UNSET or not text:
        return text or None if isinstance(text, str) else text
    try:
        return iso(seconds(text))
    except (ValueError, OverflowError):
        raise BadRequest(
            "Invalid expiresAt: a UTC time such as 2031-05-06T07:08:09Z or null is needed"
        ) from None


class KeysQuery(Struct, frozen=True, kw_only=True, rename="camel"):
    """Without ``page``, every key that matches is listed."""

    page: Annotated[int, Meta(ge=1, le=10_000_000)] | None = None
    page_size: Annotated[int, Meta(ge=1, le=500)] = 50
    search: Annotated[str, Meta(max_length=200)] = ""
    """A part of the name or id, or of the name of a group; case is ignored."""


class UsageQuery(Struct, frozen=True, kw_only=True, rename="camel"):
    api_key_id: str | None = None
