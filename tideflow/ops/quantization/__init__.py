"""Numbers held as integers of a few bits, and arithmetic and layers on them."""
