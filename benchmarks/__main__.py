"""Run every benchmark and print its table: ``make bench``."""

from __future__ import annotations

from benchmarks import evaluation, methods

if __name__ == "__main__":
    evaluation.main()
    methods.main()
