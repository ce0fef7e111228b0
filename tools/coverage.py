"""Writes docs/coverage.md: what survives from each client format to each vendor format.

Each cell is found by doing it: a request with the feature is translated and the
vendor's request is searched for it by plain means. A test fails while the page
differs from what this would write, and whenever something is lost in silence.
"""

import sys
from collections.abc import Iterator
from pathlib import Path

import msgspec

ROOT = Path(__file__).parent.parent
sys.path.insert(0, str(ROOT / "tests" / "support"))

from dialects import FORMATS, MODELS, asked  # noqa: E402
from features import REQUESTS  # noqa: E402
from probes import Feature  # noqa: E402
from replies import REPLIES, Answered  # noqa: E402

from gateway_core import plugins  # noqa: E402
from gateway_core.contracts.conversation import Conversation, Losses  # noqa: E402
from gateway_core.contracts.kinds import Kind  # noqa: E402
from gateway_core.contracts.model import Model  # noqa: E402
from gateway_core.contracts.provider import Call, Credential, ProviderSpec, Target  # noqa: E402
from gateway_core.contracts.wire import WireFormat  # noqa: E402
from gateway_core.pipeline.json_body import members_of  # noqa: E402
from gateway_core.pipeline.translation import Translation  # noqa: E402
from gateway_core.plugins import registry  # noqa: E402

PAGE = ROOT / "docs" / "coverage.md"
CARRIED, DROPPED, SILENT, ABSENT = "yes", "dropped", "LOST", "–"
Formats = dict[str, WireFormat]


def formats() -> Formats:
    """The installed wire formats."""
    return dict(registry.build(plugins.load()).formats)


def target(wire: str) -> Target:
    spec = ProviderSpec(id=f"v-{wire}", name=wire, format=wire, base_url="http://vendor.invalid")
    return Target(spec, Model(MODELS[wire]))


def request_cell(found: Formats, feature: Feature, client: str, vendor: str) -> str:
    """Whether a feature of a client's request reaches a vendor."""
    if client not in feature.asks:
        return ABSENT
    body = msgspec.json.encode(asked(client, dict(feature.asks[client])))
    call = Call(
        kind=Kind.LLM,
        format=client,
        model="m",
        stream=False,
        body=body,
        members=members_of(body),
        path={"model": "m"},
    )
    exchange = Translation(call, found).open(target(vendor), Credential(connection_id="c"))
    if feature.found[vendor](msgspec.json.decode(exchange.request.body)):
        return CARRIED
    named = {feature.name, *feature.lost}
    return DROPPED if any(name in named for name in exchange.losses.names) else SILENT


def reply_cell(found: Formats, answered: Answered, client: str) -> str:
    """Whether something a vendor answered reaches a client."""
    losses = Losses()
    side = found[client].client
    assert side is not None
    body = side.write_reply(answered.reply, Conversation(model="m"), losses)
    if answered.found[client](msgspec.json.decode(body)):
        return CARRIED
    return DROPPED if any(name in losses.names for name in answered.lost) else SILENT


def request_tables(found: Formats) -> Iterator[str]:
    for client in FORMATS:
        yield f"### From `{client}` clients\n"
        yield "| feature | " + " | ".join(f"to `{vendor}`" for vendor in FORMATS) + " |"
        yield "|" + " --- |" * (len(FORMATS) + 1)
        for feature in REQUESTS:
            if client in feature.asks:
                cells = [request_cell(found, feature, client, vendor) for vendor in FORMATS]
                yield f"| {feature.name} | " + " | ".join(cells) + " |"
        yield ""


def reply_table(found: Formats) -> Iterator[str]:
    yield "| answer | " + " | ".join(f"to `{client}`" for client in FORMATS) + " |"
    yield "|" + " --- |" * (len(FORMATS) + 1)
    for answered in REPLIES:
        cells = [reply_cell(found, answered, client) for client in FORMATS]
        yield f"| {answered.name} | " + " | ".join(cells) + " |"


def page(found: Formats) -> str:
    return (
        "# What survives translation\n\n"
        "Made by the tests; `python tools/coverage.py` writes it anew. *yes*: it reaches the other "
        "side. *dropped*: the other side cannot express it, and `x-gateway-dropped` says so. A "
        "client and a vendor of the same format exchange their own bytes, so everything survives "
        "there. A feature that a client's format has no words for is left out of its table.\n\n"
        "## Requests\n\n" + "\n".join(request_tables(found)) + "\n## Answers\n\n"
        "From a vendor of any other format.\n\n" + "\n".join(reply_table(found)) + "\n"
    )


if __name__ == "__main__":
    PAGE.write_text(page(formats()), encoding="utf-8")
    print("wrote docs/coverage.md")
