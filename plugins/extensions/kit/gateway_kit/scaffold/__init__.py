"""Writing a plugin that works at once, for its author to change: a provider, format or extension.

```text
Order ──▶ files_of (templates) ──▶ write
```
"""
