"""The paper of Battle & Hempstead: its claims and figures, held against the cores."""
