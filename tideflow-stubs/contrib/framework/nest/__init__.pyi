# Written by `python -m tideflow.programs.stubs`.

from tideflow.contrib.framework.nests import assert_shallow_structure as assert_shallow_structure
from tideflow.contrib.framework.nests import flatten_dict_items as flatten_dict_items
from tideflow.contrib.framework.nests import flatten_up_to as flatten_up_to
from tideflow.contrib.framework.nests import flatten_with_joined_string_paths as flatten_with_joined_string_paths
from tideflow.contrib.framework.nests import flatten_with_tuple_paths as flatten_with_tuple_paths
from tideflow.contrib.framework.nests import flatten_with_tuple_paths_up_to as flatten_with_tuple_paths_up_to
from tideflow.contrib.framework.nests import map_structure_up_to as map_structure_up_to
from tideflow.contrib.framework.nests import map_structure_with_paths as map_structure_with_paths
from tideflow.contrib.framework.nests import map_structure_with_tuple_paths as map_structure_with_tuple_paths
from tideflow.contrib.framework.nests import map_structure_with_tuple_paths_up_to as map_structure_with_tuple_paths_up_to
from tideflow.contrib.framework.nests import yield_flat_paths as yield_flat_paths
from tideflow.graph.nest import assert_same_structure as assert_same_structure
from tideflow.graph.nest import flatten as flatten
from tideflow.graph.nest import get_traverse_shallow_structure as get_traverse_shallow_structure
from tideflow.graph.nest import is_nested as _is_sequence
from tideflow.graph.nest import is_nested as is_nested
from tideflow.graph.nest import is_nested_or_composite as _is_sequence_or_composite
from tideflow.graph.nest import map_structure as map_structure
from tideflow.graph.nest import pack_sequence_as as pack_sequence_as

is_sequence = _is_sequence
is_sequence_or_composite = _is_sequence_or_composite
