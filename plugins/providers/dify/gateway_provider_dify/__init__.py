"""Dify: an application that its operator has configured there, asked with one message.

API reference: https://docs.dify.ai/api-reference/chat/send-chat-message

An account's key stands for one application, so there is one model. Nothing is kept: no conversation
is begun at the vendor, and each request has a user of its own. The whole history goes as one text,
so tools and media are refused.
"""

from gateway_core import Auth, Model, ProviderSpec, WireFormat, hookimpl

from .chat import CHAT, MODEL

DIFY = ProviderSpec(
    id="dify",
    name="Dify",
    keys_url="https://cloud.dify.ai/apps",
    format=CHAT.id,
    base_url="https://api.dify.ai/v1",
    auth=Auth(scheme="bearer"),
    environment=("DIFY_API_KEY",),
    # https://docs.dify.ai/api-reference/application/get-application-basic-information
    probes=("/info", "/parameters"),
    models=(Model(MODEL, tools=False, reasoning=False, vision=False),),
)


@hookimpl
def register_formats() -> list[WireFormat]:
    return [CHAT]


@hookimpl
def register_providers() -> list[ProviderSpec]:
    return [DIFY]
