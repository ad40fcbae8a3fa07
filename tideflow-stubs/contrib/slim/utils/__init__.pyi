# Written by `python -m tideflow.programs.stubs`.

from tideflow.contrib.layers.utilities import append_tensor_alias as append_tensor_alias
from tideflow.contrib.layers.utilities import channel_dimension as channel_dimension
from tideflow.contrib.layers.utilities import collect_named_outputs as collect_named_outputs
from tideflow.contrib.layers.utilities import constant_value as constant_value
from tideflow.contrib.layers.utilities import convert_collection_to_dict as convert_collection_to_dict
from tideflow.contrib.layers.utilities import gather_tensors_aliases as gather_tensors_aliases
from tideflow.contrib.layers.utilities import get_tensor_aliases as get_tensor_aliases
from tideflow.contrib.layers.utilities import get_variable_collections as get_variable_collections
from tideflow.contrib.layers.utilities import last_dimension as last_dimension
from tideflow.contrib.layers.utilities import n_positive_integers as n_positive_integers
from tideflow.contrib.layers.utilities import static_cond as static_cond
from tideflow.contrib.layers.utilities import two_element_tuple as two_element_tuple
from tideflow.ops.control_flow.conditionals import smart_cond as smart_cond
