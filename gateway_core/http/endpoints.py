"""Which path speaks which format: the client endpoints that the formats declare (4.2, 4.3)."""

import re
from collections.abc import Iterable, Mapping

from ..contracts.wire import WireFormat
from ..pipeline.request_head import EndpointRoute

_PARAMETER = re.compile(r"\\{(\w+)\\}")
Found = tuple[EndpointRoute, Mapping[str, str]]
NO_PARAMETERS: Mapping[str, str] = {}


class Endpoints:
    """Finds the route of a path: a look-up for fixed paths, a few patterns for the others."""

    def __init__(self, formats: Iterable[WireFormat]) -> None:
        self._fixed: dict[str, Found] = {}
        self._patterns: list[tuple[re.Pattern[str], EndpointRoute]] = []
        for wire in formats:
            for endpoint in wire.endpoints:
                path, route = endpoint.path, EndpointRoute(endpoint, wire)
                if "{" not in path:
                    self._fixed.setdefault(path, (route, NO_PARAMETERS))
                else:
                    pattern = _PARAMETER.sub(r"(?P<\1>.+)", re.escape(path))
                    self._patterns.append((re.compile(pattern), route))

    def find(self, path: str) -> Found | None:
        """The route and the path's parameters."""
        matched = self._fixed.get(path)
        if matched is not None:
            return matched
        for pattern, route in self._patterns:
            match = pattern.fullmatch(path)
            if match:
                return route, match.groupdict()
        return None
