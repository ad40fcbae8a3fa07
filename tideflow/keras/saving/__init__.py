"""Models and weights in files."""
