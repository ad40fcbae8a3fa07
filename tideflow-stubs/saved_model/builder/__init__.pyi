# Written by `python -m tideflow.programs.stubs`.

from tideflow.saved_model.builder import SavedModelBuilder as SavedModelBuilder
