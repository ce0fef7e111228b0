"""A gateway for the author of one plugin: a mock vendor behind it, and begun again on each save.

```text
command ─▶ Supervisor (watches the source, owns the data) ─▶ child ─▶ gateway with the plugin
                                                               └────▶ mock vendor, for the network
```

The child is a process of its own, because a module that was imported once
cannot be taken back. A new one loads the plugin first and takes over only then:
while the source is broken, the old plugin keeps serving.
"""
