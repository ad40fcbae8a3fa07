# Written by `python -m tideflow.programs.stubs`.

from tideflow.contrib.predictor import from_contrib_estimator as from_contrib_estimator
from tideflow.contrib.predictor import from_estimator as from_estimator
from tideflow.contrib.predictor import from_saved_model as from_saved_model
