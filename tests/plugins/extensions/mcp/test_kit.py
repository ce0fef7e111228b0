"""The conformance kit's cases for extensions."""

from pathlib import Path

import gateway_extension_mcp
from gateway_kit.extensions.suite import ExtensionSuite

NAME = "gateway_extension_mcp"
PUBLIC = (gateway_extension_mcp.PATH, "/api/mcp-gateway/sse", "/api/mcp-gateway/message")


def test_every_case_passes(tmp_path: Path) -> None:
    suite = ExtensionSuite(NAME, settings={"enabled": True}, public=PUBLIC, trusted=True)
    try:
        results = {case.name: suite.run(case, tmp_path) for case in suite.cases()}
    finally:
        suite.close()

    assert sum(": routes: " in name for name in results) == 5
    assert any(": life: " in name for name in results)
    assert {name: failure for name, failure in results.items() if failure is not None} == {}
