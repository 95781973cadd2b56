"""``python -m hocket.cli``: an older name of ``python -m hocket``."""

import hocket.__main__  # noqa: F401
