"""The document that the dashboard's types are made of is the one that the gateway serves."""

import importlib.util
from pathlib import Path

ROOT = Path(__file__).parents[3]


def test_the_document_of_the_dashboard_is_fresh() -> None:
    spec = importlib.util.spec_from_file_location("openapi_page", ROOT / "tools" / "openapi.py")
    assert spec is not None
    assert spec.loader is not None
    tool = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(tool)

    assert tool.FILE.read_text(encoding="utf-8") == tool.page(), "run: python tools/openapi.py"
