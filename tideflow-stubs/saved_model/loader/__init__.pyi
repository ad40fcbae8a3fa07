# Written by `python -m tideflow.programs.stubs`.

from tideflow.io.saved_models import contains_saved_model as _maybe_saved_model_directory
from tideflow.saved_model.loader import load as load

maybe_saved_model_directory = _maybe_saved_model_directory
