# Written by `python -m tideflow.programs.stubs`.

from tideflow.estimator.export.outputs import ClassificationOutput as ClassificationOutput
from tideflow.estimator.export.outputs import ExportOutput as ExportOutput
from tideflow.estimator.export.outputs import PredictOutput as PredictOutput
from tideflow.estimator.export.outputs import RegressionOutput as RegressionOutput
from tideflow.estimator.export.receivers import ServingInputReceiver as ServingInputReceiver
from tideflow.estimator.export.receivers import TensorServingInputReceiver as TensorServingInputReceiver
from tideflow.estimator.export.receivers import build_parsing_serving_input_receiver_fn as build_parsing_serving_input_receiver_fn
from tideflow.estimator.export.receivers import build_raw_serving_input_receiver_fn as build_raw_serving_input_receiver_fn
