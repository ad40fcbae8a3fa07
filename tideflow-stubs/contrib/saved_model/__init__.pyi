# Written by `python -m tideflow.programs.stubs`.

from tideflow.estimator.keras_models import export_saved_model as _save_keras_model
from tideflow.estimator.keras_models import load_from_saved_model as _load_keras_model

load_keras_model = _load_keras_model
save_keras_model = _save_keras_model
