"""The bodies and queries of requests to the translator."""

from typing import Any, Literal

from msgspec import Struct


class TranslateBody(Struct, frozen=True, kw_only=True, rename="camel"):
    """``sourceFormat`` is the format of the body, the completions style when it is left out."""

    step: Literal[1, 2, 3]
    body: dict[str, Any]
    provider: str = ""
    model: str = ""
    source_format: str = ""


class SendBody(Struct, frozen=True, kw_only=True, rename="camel"):
    body: dict[str, Any]
    provider: str = ""
    model: str = ""
    source_format: str = ""


Fixture = Literal[
    "1_req_client.json",
    "2_req_source.json",
    "3_req_openai.json",
    "4_req_target.json",
    "5_res_provider.txt",
    "6_res_openai.txt",
    "7_res_client.txt",
]
"""The texts that may be kept, one for each stage of a request's way."""


class FileQuery(Struct, frozen=True, kw_only=True):
    file: Fixture


class FileBody(Struct, frozen=True, kw_only=True):
    file: Fixture
    content: str
