"""Where an Ollama server is, in every spelling people use."""

import pytest
from gateway_provider_ollama import OLLAMA
from gateway_provider_ollama.addresses import CLOUD, LOCAL, address, normalised

from gateway_core import Credential, Model, Target

SPELLINGS = [
    ("0.0.0.0", "http://127.0.0.1:11434"),
    ("0.0.0.0:8080", "http://127.0.0.1:8080"),
    ("127.0.0.1", "http://127.0.0.1:11434"),
    (":8080", "http://127.0.0.1:8080"),
    ("box", "http://box:11434"),
    ("box:8080", "http://box:8080"),
    (" 'box:8080' ", "http://box:8080"),
    ("::1", "http://[::1]:11434"),
    ("::", "http://[::1]:11434"),
    ("[::1]", "http://[::1]:11434"),
    ("[::]:8080", "http://[::1]:8080"),
    ("[fe80::1]:8080", "http://[fe80::1]:8080"),
    ("http://box", "http://box"),
    ("http://0.0.0.0:8080", "http://127.0.0.1:8080"),
    ("https://box/", "https://box"),
    ("https://box/v1", "https://box"),
    ("https://box/api/", "https://box"),
    ("https://box/below/v1/", "https://box/below"),
    ("box/below", "http://box:11434/below"),
    ("ollama.com", "https://ollama.com"),
    ("https://ollama.com", "https://ollama.com"),
]


@pytest.mark.parametrize(("spelling", "url"), SPELLINGS)
def test_a_host_is_read_as_the_vendors_own_programs_read_it(spelling: str, url: str) -> None:
    assert normalised(spelling) == url


@pytest.mark.parametrize(("spelling", "url"), SPELLINGS)
def test_reading_what_was_read_changes_nothing(spelling: str, url: str) -> None:
    assert normalised(url) == url


def call(path: str, secret: str | None = None, **data: object) -> str:
    credential = Credential(connection_id="a", secret=secret, data=data)
    return address(Target(OLLAMA, Model("llama3.2")), credential, path)


def test_without_anything_said_the_server_is_on_this_machine() -> None:
    assert call("/api/chat") == f"{LOCAL}/api/chat"


def test_a_key_alone_means_the_hosted_service() -> None:
    assert call("/api/chat", secret="k") == f"{CLOUD}/api/chat"


def test_a_key_goes_to_the_server_that_is_named() -> None:
    assert call("/api/chat", secret="k", baseUrl="box") == "http://box:11434/api/chat"


@pytest.mark.parametrize("path", ["/chat/completions", "/messages"])
@pytest.mark.parametrize("base", ["http://box:11434", "http://box:11434/v1/"])
def test_the_compatible_paths_are_below_v1(path: str, base: str) -> None:
    assert call(path, baseUrl=base) == f"http://box:11434/v1{path}"


@pytest.mark.parametrize("base", ["", "  ", None, 7])
def test_an_empty_address_says_nothing(base: object) -> None:
    assert call("/api/chat", baseUrl=base) == f"{LOCAL}/api/chat"
