"""Names of what was deleted, to read."""

from collections.abc import Mapping

from gateway_core.storage.database import Database
from gateway_core.storage.stores.former_names import NAMED, Kind


class FormerNames:
    """The names of deleted keys, connections and nodes."""

    def __init__(self, database: Database) -> None:
        self._database = database

    async def all(self) -> Mapping[Kind, Mapping[str, str]]:
        """Every name, by kind and id."""
        names: dict[Kind, dict[str, str]] = {kind: {} for kind in NAMED}
        for row in await self._database.fetch("SELECT kind, id, name FROM former_names"):
            names[row["kind"]][row["id"]] = row["name"]
        return names
