"""Settings and helpers of all tests."""

import signal
import sys
import threading
from pathlib import Path

from hypothesis import settings

# `import reference` finds the slow, obvious references beside this file.
sys.path.insert(0, str(Path(__file__).parent))

settings.register_profile("repeatable", derandomize=True, deadline=None, database=None, max_examples=40)
settings.load_profile("repeatable")

# A shell that starts the tests in the background has them ignore Ctrl-C, which some of them raise.
if threading.current_thread() is threading.main_thread():
    signal.signal(signal.SIGINT, signal.default_int_handler)
