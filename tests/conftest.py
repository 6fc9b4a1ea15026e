"""Settings and helpers of all tests."""

import sys
from pathlib import Path

from hypothesis import settings

# `import reference` finds the slow, obvious references beside this file.
sys.path.insert(0, str(Path(__file__).parent))

settings.register_profile("repeatable", derandomize=True, deadline=None, database=None, max_examples=40)
settings.load_profile("repeatable")
