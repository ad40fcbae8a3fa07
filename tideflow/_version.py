"""The version of Tideflow: the one place where it stands. The build reads it from here too (pyproject.toml)."""

__version__ = "0.1.0"
