"""``python -m dse`` is the command ``dse``."""

from dse.cli import main

if __name__ == "__main__":  # not when a worker process imports it
    main()
