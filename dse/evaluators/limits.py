"""Limits of this package, each with its reason; a supervisor has its own, as it imports nothing."""

STOP_PERIOD_S = 0.1
"""Time after which it is polled again whether to stop."""

SUPERVISOR_PATIENCE_S = 10.0
"""So much longer than it should take, a supervisor is waited for."""

OUTPUT_BYTE, ERROR_BYTE = 1_000_000, 4_000
"""What is read of what a program writes about a design, and kept of the end of standard error."""

CAUSE_CHARACTERS, NAME_CHARACTERS = 100, 60
"""Most of the last line of standard error that is part of a cause, and of an output's name."""

FOLDERS_KEPT = 100
"""Working folders of failed designs that a call keeps; a few more where several fail at once."""

RETRY_WAIT_S = 60.0
"""The longest time before a design is tried again."""

WORKER_PATIENCE_S, WORKER_LAST_S = 60.0, 1.0
"""So long a new worker may take to import what it measures with, and one that is silent to end."""

SCHEDULER_PATIENCE_S, SCHEDULER_ATTEMPT_S = 30.0, 1.0
"""So long a scheduler is waited for, at first and whenever it is gone, and in one attempt."""
