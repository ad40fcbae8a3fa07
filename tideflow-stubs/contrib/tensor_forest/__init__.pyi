# Written by `python -m tideflow.programs.stubs`.

from tideflow.contrib.tensor_forest import data_ops as data_ops
from tideflow.contrib.tensor_forest import eval_metrics as eval_metrics
from tideflow.contrib.tensor_forest import model_ops as model_ops
from tideflow.contrib.tensor_forest import random_forest as random_forest
from tideflow.contrib.tensor_forest import stats_ops as stats_ops
from tideflow.contrib.tensor_forest import tensor_forest as tensor_forest
from tideflow.contrib.tensor_forest import tensor_forest_ops as tensor_forest_ops
