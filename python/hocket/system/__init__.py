"""What the operating system gives: files, the user's cache, text for a terminal, signals, memory."""
