"""Which calls of the vendor's own API the native facade allows.

API reference: https://platform.claude.com/docs/en/api/overview
Advisors: https://platform.claude.com/docs/en/agents-and-tools/tool-use/advisor-tool
"""

from gateway_core import Operation, Resource

ADVISOR = "tools[advisor*].model"
ROWS = ("requests[].params.model", f"requests[].params.{ADVISOR}")
BATCH = Resource("batch", "path.id")
FILE = Resource("file", "path.id")


def kept(method: str, path: str, uses: Resource | None, kind: str | None) -> Operation:
    """An operation on what the vendor keeps for an account; without ``uses``, on all of it."""
    return Operation(method=method, path=path, kind=kind, body="none", pinned=True, uses=uses)


BATCHES = "/v1/messages/batches"
FILES = "/v1/files"
NATIVE = (
    Operation(method="POST", path="/v1/messages", nested=(ADVISOR,)),
    Operation(
        method="POST",
        path=BATCHES,
        nested=ROWS,
        creates=Resource("batch", "id"),
        shows_account=True,
        uncapped_only=True,
    ),
    kept("GET", BATCHES, None, "llm"),
    kept("GET", f"{BATCHES}/{{id}}", BATCH, "llm"),
    kept("GET", f"{BATCHES}/{{id}}/results", BATCH, "llm"),
    kept("POST", f"{BATCHES}/{{id}}/cancel", BATCH, "llm"),
    kept("DELETE", f"{BATCHES}/{{id}}", BATCH, "llm"),
    Operation(
        method="POST",
        path=FILES,
        kind=None,
        body="form",
        creates=Resource("file", "id"),
        shows_account=True,
    ),
    kept("GET", FILES, None, None),
    kept("GET", f"{FILES}/{{id}}", FILE, None),
    kept("GET", f"{FILES}/{{id}}/content", FILE, None),
    kept("DELETE", f"{FILES}/{{id}}", FILE, None),
)
