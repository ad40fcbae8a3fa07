# Written by `python -m tideflow.programs.stubs`.

from tideflow.contrib.tensor_forest.eval_metrics import get_metric as get_metric
from tideflow.contrib.tensor_forest.eval_metrics import get_prediction_key as get_prediction_key
