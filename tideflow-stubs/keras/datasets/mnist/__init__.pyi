# Written by `python -m tideflow.programs.stubs`.

from tideflow.keras.datasets.images import _mnist as _load_data

load_data = _load_data
