"""`python -m oneslack` is `oneslack`."""

import sys

from oneslack.cli import main

sys.exit(main())
