# Written by `python -m tideflow.programs.stubs`.

from tideflow.contrib.timeseries.saved_model_utils import cold_start_filter as cold_start_filter
from tideflow.contrib.timeseries.saved_model_utils import filter_continuation as filter_continuation
from tideflow.contrib.timeseries.saved_model_utils import predict_continuation as predict_continuation
