"""Models: the list, aliases, the operator's own, prices, tests and availability."""
