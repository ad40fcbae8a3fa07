"""Random numbers: streams by seed, and streams whose state is a variable."""
