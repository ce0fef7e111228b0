"""Snowflake Cortex: models inside one's own Snowflake account.

API reference: https://docs.snowflake.com/en/user-guide/snowflake-cortex/open_ai_sdk

An account's data names it as ``accountId``, the first label of its host, such as
``myorg-myaccount``; its ``baseUrl`` may name the whole address instead. The key is a programmatic
access token.
"""

import re

from gateway_core import AccountField, Credential, ProviderSpec, Target, UpstreamError, hookimpl
from gateway_providers import openai_compatible

LABEL = re.compile(r"[A-Za-z0-9][A-Za-z0-9-]*")


def address(target: Target, credential: Credential, path: str) -> str:
    """The whole URL of a call. Raises UpstreamError when the account does not say whose it is."""
    own = credential.data.get("baseUrl")
    if isinstance(own, str) and own:
        return own.rstrip("/") + path
    account = credential.data.get("accountId")
    if not isinstance(account, str) or not LABEL.fullmatch(account):
        raise UpstreamError("The account names no accountId; save it in its data")
    return f"https://{account}.snowflakecomputing.com/api/v2/cortex/v1{path}"


SNOWFLAKE = openai_compatible(
    ProviderSpec(
        id="snowflake",
        name="Snowflake Cortex",
        base_url="https://{accountId}.snowflakecomputing.com/api/v2/cortex/v1",
        url_builder=address,
        account_fields=(
            AccountField(
                name="accountId",
                title="Account identifier",
                about="The first label of the account's host.",
                needed=True,
                examples=("myorg-myaccount",),
            ),
        ),
        environment=("SNOWFLAKE_PAT",),
        environment_data={"SNOWFLAKE_ACCOUNT_ID": "accountId"},
        passthrough_models=True,
    )
)
CONFORMANCE = {"accounts": {"snowflake": {"data": {"accountId": "myorg-myaccount"}}}}


@hookimpl
def register_providers() -> list[ProviderSpec]:
    return [SNOWFLAKE]
