"""Limits of input, each with its reason.  A study may come from any source."""

STUDY_BYTE, STUDY_NODES = 256_000, 20_000
"""Largest study, and most keys, values, mappings and lists in one.  Tables have their own files."""

STUDY_DEPTH = 32
"""Deepest nesting of mappings and lists: no section needs a quarter of it."""

STUDY_DIGITS = 300
"""Most characters of a whole number: the largest float has 309."""

TABLE_BYTE = 256_000_000
"""Largest table: some million rows, which fit into memory several times."""

JSON_BYTE, JSON_DEPTH = 1 << 28, 60
"""Longest file of JSON that is read, and its deepest nesting."""
