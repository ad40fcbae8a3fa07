# Written by `python -m tideflow.programs.stubs`.

from tideflow.keras.datasets.images import _fashion_mnist as _load_data

load_data = _load_data
