"""The kit's vendor on loopback, under the names that these tests use."""

from gateway_kit.mock_vendor.server import MockResponse as Said
from gateway_kit.mock_vendor.server import MockVendor, Script
from gateway_kit.mock_vendor.server import ReceivedRequest as Asked

FakeVendor = MockVendor

__all__ = ["Asked", "FakeVendor", "Said", "Script"]
