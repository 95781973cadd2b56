"""Common parts of commands: options, output, errors."""
