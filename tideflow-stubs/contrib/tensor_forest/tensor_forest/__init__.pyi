# Written by `python -m tideflow.programs.stubs`.

from tideflow.contrib.tensor_forest.graphs import ForestHParams as ForestHParams
from tideflow.contrib.tensor_forest.graphs import ForestVariables as ForestVariables
from tideflow.contrib.tensor_forest.graphs import RandomForestGraphs as RandomForestGraphs
from tideflow.contrib.tensor_forest.graphs import RandomTreeGraphs as RandomTreeGraphs
from tideflow.contrib.tensor_forest.graphs import TreeVariables as TreeVariables
from tideflow.contrib.tensor_forest.graphs import build_params_proto as build_params_proto
from tideflow.contrib.tensor_forest.graphs import get_epoch_variable as get_epoch_variable
from tideflow.contrib.tensor_forest.graphs import parse_number_or_string_to_proto as parse_number_or_string_to_proto
