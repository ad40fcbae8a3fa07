# Written by `python -m tideflow.programs.stubs`.

from tideflow.keras.datasets.images import _cifar100 as _load_data

load_data = _load_data
