# Written by `python -m tideflow.programs.stubs`.

from tideflow.keras.wrappers import scikit_learn as scikit_learn
