"""``hocket report``: networks, plans, runs and measurements as one page for a browser, without any other file."""
