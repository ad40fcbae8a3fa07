# Written by `python -m tideflow.programs.stubs`.

from tideflow.contrib.util import ops_used_by_graph_def as ops_used_by_graph_def
from tideflow.contrib.util import stripped_op_list_for_graph as stripped_op_list_for_graph
from tideflow.graph.partial import constant_value as constant_value
from tideflow.graph.tensor_proto import make_ndarray as make_ndarray
from tideflow.graph.tensor_proto import make_tensor_proto as make_tensor_proto
