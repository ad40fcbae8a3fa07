# Written by `python -m tideflow.programs.stubs`.

from tideflow.estimator.keras_models import model_to_estimator as model_to_estimator
