# Written by `python -m tideflow.programs.stubs`.

from tideflow.contrib.tensor_forest.ops import feature_usage_counts as feature_usage_counts
from tideflow.contrib.tensor_forest.ops import traverse_tree_v4 as traverse_tree_v4
from tideflow.contrib.tensor_forest.ops import tree_predictions_v4 as tree_predictions_v4
from tideflow.contrib.tensor_forest.ops import tree_size as tree_size
from tideflow.contrib.tensor_forest.ops import update_model_v4 as update_model_v4
from tideflow.contrib.tensor_forest.variables import TreeVariable as TreeVariable
from tideflow.contrib.tensor_forest.variables import TreeVariableSavable as TreeVariableSavable
from tideflow.contrib.tensor_forest.variables import tree_variable as tree_variable
