"""The control server: tools of the Model Context Protocol that call the management API."""
