"""Writes what the dashboard's types are generated from: the OpenAPI document of the management API.

``python tools/openapi.py`` needs no running gateway. The file is kept, so that the dashboard can be
built where no gateway is installed; a test fails while it is out of date.
"""

import json
import sys
from pathlib import Path

ROOT = Path(__file__).parent.parent
sys.path.insert(0, str(ROOT / "tools"))

import reference  # noqa: E402

from gateway_dashboard_api.openapi.document import document  # noqa: E402

FILE = ROOT / "plugins" / "extensions" / "dashboard" / "web" / "openapi.json"
ALSO = frozenset({"/v1/models"})
"""What the dashboard calls outside of the management API."""


def page() -> str:
    """The document as text. Its version is a constant, so that a release changes no types."""
    wanted = [
        operation
        for operation in reference.operations()
        if operation.path.startswith("/api/") or operation.path in ALSO
    ]
    return json.dumps(document(wanted, (), "0"), indent=1, sort_keys=True) + "\n"


def main() -> None:
    FILE.write_text(page(), encoding="utf-8")
    print(f"wrote {FILE.relative_to(ROOT)}")


if __name__ == "__main__":
    main()
