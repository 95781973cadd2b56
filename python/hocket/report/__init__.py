"""Reports: ``page`` writes a page for a browser, ``run`` tells what became of the calls of one run."""
