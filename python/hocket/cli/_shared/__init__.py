"""What several commands share: options, output, errors."""
