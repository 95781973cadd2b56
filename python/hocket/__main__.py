"""``python -m hocket``: the same as the command ``hocket``."""

import sys

from hocket.start import main

sys.exit(main())
