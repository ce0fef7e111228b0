"""A format author's tools. They name no format's vendor and do no I/O."""
