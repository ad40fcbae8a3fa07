# Written by `python -m tideflow.programs.stubs`.

from tideflow.saved_model.objects import save as save
