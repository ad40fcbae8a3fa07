"""The version of Tideflow, in its one place: the build reads it from here too (pyproject.toml)."""

__version__ = "0.1.0"
