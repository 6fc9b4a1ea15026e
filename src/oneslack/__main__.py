"""`python -m oneslack` is `oneslack`."""

import sys

from .cli import main

sys.exit(main())
