# Written by `python -m tideflow.programs.stubs`.

from tideflow.contrib.predictor import from_saved_model as from_saved_model
