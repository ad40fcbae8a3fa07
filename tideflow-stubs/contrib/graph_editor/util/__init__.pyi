# Written by `python -m tideflow.programs.stubs`.

from tideflow.contrib.graph_editor.util import ControlOutputs as ControlOutputs
from tideflow.contrib.graph_editor.util import get_consuming_ops as get_consuming_ops
from tideflow.contrib.graph_editor.util import get_generating_ops as get_generating_ops
from tideflow.contrib.graph_editor.util import get_tensors as get_tensors
from tideflow.contrib.graph_editor.util import make_list_of_op as make_list_of_op
from tideflow.contrib.graph_editor.util import make_list_of_t as make_list_of_t
from tideflow.contrib.graph_editor.util import make_placeholder_from_dtype_and_shape as make_placeholder_from_dtype_and_shape
from tideflow.contrib.graph_editor.util import make_placeholder_from_tensor as make_placeholder_from_tensor
from tideflow.contrib.graph_editor.util import placeholder_name as placeholder_name
