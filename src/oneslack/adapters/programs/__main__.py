"""`python -m oneslack.adapters.programs svm_perf_learn ...`: what the launchers call."""

import sys

from . import MODULES, main

if len(sys.argv) < 2 or sys.argv[1] not in MODULES:
    sys.exit(f"name a program: {', '.join(MODULES)}.")
sys.exit(main(sys.argv[1], sys.argv[2:]))
