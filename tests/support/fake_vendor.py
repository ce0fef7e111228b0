"""The kit's vendor on loopback, for the tests of the gateway."""

from gateway_kit.mock_vendor.server import MockResponse, MockVendor, ReceivedRequest, Script

FakeVendor = MockVendor

__all__ = ["FakeVendor", "MockResponse", "ReceivedRequest", "Script"]
