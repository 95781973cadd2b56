"""Services of the operating system: files, the user's cache, text for a terminal, signals, memory."""
