"""The kit's vendor on loopback, under the names that the tests of this house use."""

from gateway_kit.mock_vendor.server import Asked, MockVendor, Said, Script

FakeVendor = MockVendor

__all__ = ["Asked", "FakeVendor", "Said", "Script"]
