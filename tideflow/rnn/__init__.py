"""Recurrent networks: cells, which are layers, and the loops that run them over time."""

from tideflow.rnn import cells, loops, wrappers  # noqa: F401
