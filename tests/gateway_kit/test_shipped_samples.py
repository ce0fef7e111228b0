"""A plugin's own samples of its services, as data in its package."""

import importlib
import sys
from pathlib import Path
from types import ModuleType

import msgspec
import pytest
from gateway_kit.providers.service_samples import SAMPLES
from gateway_kit.providers.shipped_samples import shipped_samples

from gateway_core import Kind, Usage


@pytest.fixture
def plugin(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> ModuleType:
    folder = tmp_path / "gateway_with_samples"
    folder.mkdir()
    (folder / "__init__.py").touch()
    monkeypatch.syspath_prepend(tmp_path)
    monkeypatch.delitem(sys.modules, folder.name, raising=False)
    return importlib.import_module("gateway_with_samples")


def write(plugin: ModuleType, text: str) -> None:
    Path(str(plugin.__file__)).with_name("service_samples.json").write_text(text)


def test_a_sample_changes_what_it_names(plugin: ModuleType) -> None:
    write(
        plugin,
        """{
            "embedding": {"reply": {"v": [1]}, "usage": {"input_tokens": 3}, "shown": ["1"]},
            "image": {"reply": "aGVsbG8=", "reply_type": "image/png", "usage": null},
            "search": null
        }""",
    )

    found = shipped_samples(plugin)

    vectors, image = found["embedding"], found["image"]
    assert vectors is not None
    assert image is not None
    assert (vectors.reply, vectors.usage, vectors.shown) == (
        b'{"v":[1]}',
        Usage(input_tokens=3),
        (b"1",),
    )
    assert vectors.request == SAMPLES[Kind.EMBEDDING].request
    assert (image.reply, image.is_json, image.usage) == (b"hello", False, None)
    assert found["search"] is None


def test_a_plugin_without_a_file_has_none(plugin: ModuleType) -> None:
    assert shipped_samples(plugin) == {}
    assert shipped_samples(object()) == {}


def test_an_unknown_member_is_an_error(plugin: ModuleType) -> None:
    write(plugin, '{"embedding": {"answer": 1}}')

    with pytest.raises(msgspec.ValidationError, match="answer"):
        shipped_samples(plugin)
