"""Birch: a chat-completions vendor whose requests are signed, with regions and embeddings.

API reference: https://docs.birch.example/api
"""

import hashlib
import hmac
import logging
from collections.abc import Mapping
from typing import Any

from msgspec.structs import replace

from gateway_core import (
    Auth,
    Credential,
    Kind,
    Model,
    Price,
    ProviderSpec,
    Service,
    Target,
    Transport,
    UpstreamRequest,
    UpstreamResponse,
    Usage,
    hookimpl,
)
from gateway_providers import openai_compatible
from gateway_providers.services import JsonService, Question

GATEWAY_PROTOCOL = 1
CONFORMANCE = {
    "accounts": {"birch": {"secret": "bk-0123456789abcdef", "data": {"region": "north"}}},
}
LOG = logging.getLogger("gateway_plugin.birch")


def address(target: Target, credential: Credential, path: str) -> str:
    region = credential.data.get("region", "north")
    return f"https://{region}.api.birch.example/v1{path}"


class Answer:
    """The vendor's answer without the warm-up comment that it begins with."""

    def __init__(self, answer: UpstreamResponse) -> None:
        self._answer = answer
        self.status = answer.status
        self.headers = answer.headers

    async def next(self) -> bytes:
        return await self._answer.next()

    async def aclose(self) -> None:
        await self._answer.aclose()


class Signed:
    """Signs each request with the account's key."""

    name = "birch-signature"

    async def send(
        self, request: UpstreamRequest, credential: Credential, transport: Transport
    ) -> UpstreamResponse:
        secret = (credential.secret or "").encode()
        signature = hmac.new(secret, request.body, hashlib.sha256).hexdigest()
        headers = {**request.headers, "x-birch-signature": signature}
        return Answer(await transport.send(replace(request, headers=headers)))


def write_embedding(question: Question) -> Mapping[str, Any]:
    question.lose_all_but("input")
    texts = question.members["input"]
    return {
        "model": question.target.model.id,
        "texts": [texts] if isinstance(texts, str) else texts,
    }


def read_embedding(question: Question, answer: Any) -> Mapping[str, Any]:
    rows = [
        {"object": "embedding", "index": index, "embedding": vector}
        for index, vector in enumerate(answer["vectors"])
    ]
    return {
        "object": "list",
        "data": rows,
        "model": question.target.model.id,
        "usage": {
            "prompt_tokens": answer["spent"]["tokens"],
            "total_tokens": answer["spent"]["tokens"],
        },
    }


def embedding_usage(question: Question, answer: Any) -> Usage | None:
    return Usage(input_tokens=answer["spent"]["tokens"])


BIRCH = openai_compatible(
    ProviderSpec(
        id="birch",
        name="Birch",
        base_url="https://north.api.birch.example/v1",
        url_builder=address,
        hosts=("*.api.birch.example",),
        environment=("BIRCH_API_KEY",),
        environment_data={"BIRCH_REGION": "region"},
        auth=Auth(scheme="bearer"),
        executor=Signed(),
        headers={"x-birch-client": "model-gateway"},
        drop=("logit_bias",),
        rename={"seed": "random_seed"},
        options={"max_tokens": "max_tokens", "system_role": "system"},
        timeout_ms=90_000,
        models=(
            Model(
                "birch-grande",
                context=131_072,
                max_output=16_384,
                tools=True,
                price=Price(input=1.5, output=6.0, cached=0.15),
            ),
            Model("birch-petit", context=32_768, tools=True, unsupported=("temperature",)),
            Model("birch-vectors", kind=Kind.EMBEDDING, price=Price(input=0.02)),
        ),
        services=(
            Service(
                Kind.EMBEDDING,
                JsonService(
                    path="/vectors",
                    write=write_embedding,
                    read=read_embedding,
                    usage=embedding_usage,
                    batch_limit=96,
                ),
            ),
        ),
    )
)


@hookimpl
def register_providers() -> list[ProviderSpec]:
    return [BIRCH]
