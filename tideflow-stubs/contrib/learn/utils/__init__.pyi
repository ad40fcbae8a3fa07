# Written by `python -m tideflow.programs.stubs`.

from tideflow.contrib.learn.exports import export_estimator as export_estimator
from tideflow.contrib.learn.saved_models import InputFnOps as InputFnOps
from tideflow.contrib.learn.saved_models import build_default_serving_input_fn as build_default_serving_input_fn
from tideflow.contrib.learn.saved_models import build_parsing_serving_input_fn as build_parsing_serving_input_fn
from tideflow.contrib.learn.saved_models import make_export_strategy as make_export_strategy
