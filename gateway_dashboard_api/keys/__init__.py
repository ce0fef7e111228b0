"""Gateway keys, their groups and what they have used."""
