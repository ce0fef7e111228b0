"""``python -m gateway_kit.mock_vendor``: the sub-command without the gateway's command line."""

from gateway_kit.commands import mock_vendor

mock_vendor()
