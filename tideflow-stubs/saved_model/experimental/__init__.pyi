# Written by `python -m tideflow.programs.stubs`.

from tideflow.saved_model.saving import save as save
