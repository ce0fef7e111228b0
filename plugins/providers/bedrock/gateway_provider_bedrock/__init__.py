"""Amazon Bedrock: many makers' models behind the Converse API.

API reference: https://docs.aws.amazon.com/bedrock/latest/APIReference/API_runtime_Converse.html

An account is a Bedrock API key, sent as a bearer token, or a pair of access
keys (``accessKeyId``, ``secretAccessKey`` or the account's secret, and a
``sessionToken``), which sign every request. ``region`` picks the host.

Provider options of the format: ``guardrail`` (an id or ARN), ``guardrail_version``
(``DRAFT`` by default) and ``latency`` (``standard``, ``optimized``), sent with
every request when set.

Models go by Bedrock's own ids, by inference profiles, or by ARN; any of them
may be requested. Which chat models an account has depends on the account, so none
is listed here. A profile belongs to a part of the world: ``us.`` is used in a
region of the United States, ``eu.`` in one of Europe.
"""

from gateway_core import AccountField, Kind, Model, ProviderSpec, WireFormat, hookimpl

from .addresses import DEFAULT_REGION, address
from .converse import CONVERSE
from .executor import SigV4
from .services import SERVICES

BEDROCK = ProviderSpec(
    id="bedrock",
    name="Amazon Bedrock",
    keys_url="https://console.aws.amazon.com/bedrock/home#/api-keys",
    alias="bedrock",
    format=CONVERSE.id,
    base_url="https://bedrock-runtime.us-east-1.amazonaws.com",
    hosts=("bedrock-runtime.*.amazonaws.com", "bedrock-runtime.*.amazonaws.com.cn"),
    url_builder=address,
    executor=SigV4(),
    account_fields=(
        AccountField(
            name="region",
            title="Region",
            default=DEFAULT_REGION,
            examples=("us-east-1", "us-west-2", "eu-central-1", "eu-west-1", "ap-northeast-1"),
        ),
        AccountField(
            name="accessKeyId",
            title="Access key ID",
            about="With it, requests are signed and the account's key is the secret access key.",
        ),
        AccountField(
            name="secretAccessKey",
            title="Secret access key",
            about="Where it is not the account's key.",
        ),
        AccountField(name="sessionToken", title="Session token", about="Of temporary access keys."),
    ),
    environment=("AWS_BEARER_TOKEN_BEDROCK",),
    environment_data={
        "AWS_ACCESS_KEY_ID": "accessKeyId",
        "AWS_SECRET_ACCESS_KEY": "secretAccessKey",
        "AWS_SESSION_TOKEN": "sessionToken",
        "AWS_REGION": "region",
    },
    models=(
        Model("amazon.titan-embed-text-v1", kind=Kind.EMBEDDING),
        Model("amazon.titan-embed-text-v2:0", kind=Kind.EMBEDDING),
        Model("amazon.nova-2-multimodal-embeddings-v1:0", kind=Kind.EMBEDDING),
        Model("amazon.titan-image-generator-v2:0", kind=Kind.IMAGE),
        Model("amazon.nova-canvas-v1:0", kind=Kind.IMAGE),
    ),
    services=SERVICES,
    passthrough_models=True,
)


@hookimpl
def register_formats() -> list[WireFormat]:
    return [CONVERSE]


@hookimpl
def register_providers() -> list[ProviderSpec]:
    return [BEDROCK]
