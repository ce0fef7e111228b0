"""The page about the cache names its settings as they are."""

import json
import re
from pathlib import Path

import msgspec
from caching_gateway import CachingGateway
from gateway_extension_cache.settings import Settings
from msgspec.structs import asdict

PAGE = (Path(__file__).parents[4] / "docs" / "cache.md").read_text(encoding="utf-8")
WORDS = {"False": "`false`", "('*',)": "all", "''": "none", "()": "none", "'key'": "`key`"}


def test_every_setting_is_named_with_its_default() -> None:
    rows = dict(re.findall(r"^\| `(\w+)` \| (.*?) \|", PAGE, re.MULTILINE))
    names = {field.name: field.encode_name for field in msgspec.structs.fields(Settings)}

    for name, value in asdict(Settings()).items():
        assert rows.pop(names[name]) == (WORDS.get(repr(value)) or f"{value:g}")
    assert rows == {}


def test_the_example_is_accepted(here: CachingGateway) -> None:
    (example,) = re.findall(r"^```json\n(.*?)^```", PAGE, re.MULTILINE | re.DOTALL)

    here.set(**json.loads(example))
