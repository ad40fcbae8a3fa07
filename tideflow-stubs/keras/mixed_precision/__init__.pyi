# Written by `python -m tideflow.programs.stubs`.

from tideflow.keras.mixed_precision import experimental as experimental
