"""Use cases: what clients may ask of the daemon, in terms of ports and domain alone."""
