"""Limits of this package, each with its reason."""

WRITER_WAIT_S = 60.0
"""So long a process waits for another that writes."""

ROWS_AT_ONCE = 500
"""Rows that are read, or requested, by one statement."""

ROW_BYTE = 128
"""A row takes more than this: its key and its checksum have 64 letters each."""
