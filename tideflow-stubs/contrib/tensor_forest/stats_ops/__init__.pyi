# Written by `python -m tideflow.programs.stubs`.

from tideflow.contrib.tensor_forest.ops import finalize_tree as finalize_tree
from tideflow.contrib.tensor_forest.ops import grow_tree_v4 as grow_tree_v4
from tideflow.contrib.tensor_forest.ops import process_input_v4 as process_input_v4
from tideflow.contrib.tensor_forest.variables import FertileStatsVariable as FertileStatsVariable
from tideflow.contrib.tensor_forest.variables import FertileStatsVariableSavable as FertileStatsVariableSavable
from tideflow.contrib.tensor_forest.variables import fertile_stats_variable as fertile_stats_variable
