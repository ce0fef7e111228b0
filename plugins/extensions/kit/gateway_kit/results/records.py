"""Keeping results where the gateway looks for them."""

from collections.abc import Mapping

import msgspec
from msgspec.structs import replace

from gateway_administration.plugins.tiers import FILE, Document, Result, Tier, recorded
from gateway_core.plugins.files import PluginFolder

from .outcome import Results


def record(folder: PluginFolder, results: Results) -> Result:
    """Keep a plugin's results in this installation, and give them as they are kept. Raises OSError.

    A live result is kept for as long as the files stay the same.
    """
    before = recorded(folder)
    kept, old = to_record(results), before.get(results.plugin)
    if not kept.live and old is not None and old.live and old.digest == kept.digest:
        tier = Tier.PLATINUM if kept.tier is Tier.GOLD else kept.tier
        kept = replace(kept, live=True, tier=tier)
    folder.write_json(FILE, Document(plugins={**before, results.plugin: kept}))
    return kept


def to_record(results: Results) -> Result:
    """As much of the results as tiers are made of."""
    return Result(
        digest=results.digest,
        tier=results.tier,
        protocol=results.protocol,
        kit=results.kit,
        cases=results.cases,
        failed=len(results.failures),
        seconds=results.seconds,
        live=results.live,
        checked_at=results.checked_at,
        expected=len(results.expected),
        clients=results.clients,
        lacks=results.lacks,
    )


def build_document(results_by_name: Mapping[str, Result]) -> bytes:
    """The file that the kit comes with: nothing in it depends on when and where it was made."""
    plugins = {
        name: replace(result, kit="", seconds=0.0, checked_at="")
        for name, result in sorted(results_by_name.items())
    }
    return msgspec.json.format(msgspec.json.encode(Document(plugins=plugins)), indent=2) + b"\n"
