"""Limits that several gateway keys have in common, and reservations that make a limit a bound.

```text
pipeline ──▶ GroupAdmission ──▶ Tally          what a group's keys have used, in memory
                        └─────▶ Reservations   with ``reserve``: rows that all processes see
```

Keys in no group, and gateways without groups, pass nothing of this.
"""
