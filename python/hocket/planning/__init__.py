"""Plans of exchanges: made, proved, predicted, compared, and read from files."""
