"""`tensorflow.python.saved_model.load`: SavedModels as objects, by the names of the module."""

from __future__ import annotations

from tideflow.saved_model.objects import load_v2

load = load_v2
