# Written by `python -m tideflow.programs.stubs`.

from tideflow.keras.datasets.images import _boston_housing as _load_data

load_data = _load_data
