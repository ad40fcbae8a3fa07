# Written by `python -m tideflow.programs.stubs`.

from tideflow.contrib.timeseries import saved_model_utils as saved_model_utils
from tideflow.contrib.timeseries.autoregression import ARModel as ARModel
from tideflow.contrib.timeseries.continuation import predict_continuation_input_fn as predict_continuation_input_fn
from tideflow.contrib.timeseries.estimators import ARRegressor as ARRegressor
from tideflow.contrib.timeseries.estimators import StructuralEnsembleRegressor as StructuralEnsembleRegressor
from tideflow.contrib.timeseries.estimators import TimeSeriesRegressor as TimeSeriesRegressor
from tideflow.contrib.timeseries.heads import OneShotPredictionHead as OneShotPredictionHead
from tideflow.contrib.timeseries.input_fns import RandomWindowInputFn as RandomWindowInputFn
from tideflow.contrib.timeseries.input_fns import WholeDatasetInputFn as WholeDatasetInputFn
from tideflow.contrib.timeseries.keys import FilteringResults as FilteringResults
from tideflow.contrib.timeseries.keys import TrainEvalFeatures as TrainEvalFeatures
from tideflow.contrib.timeseries.readers import CSVReader as CSVReader
from tideflow.contrib.timeseries.readers import NumpyReader as NumpyReader
