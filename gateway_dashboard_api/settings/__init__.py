"""The settings document, and looking for servers on this machine."""
