"""File formats: checkpoints, records, events, SavedModels, images; bytes and arrays, no graph."""

from tideflow.io import checkpoint_state, events, records  # noqa: F401
