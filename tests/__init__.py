"""Tests of the program, a package for each of its own."""

import os
import sys

# before numpy: threads of the workers of pytest would wait for each other, and burn what they wait
os.environ |= {"OPENBLAS_NUM_THREADS": "1", "OMP_NUM_THREADS": "1"}
sys.dont_write_bytecode = False  # or each worker of pytest rewrites and compiles every test anew
