"""Ways among which a hash of addresses and ports chooses: found, chosen, and kept with a network."""
