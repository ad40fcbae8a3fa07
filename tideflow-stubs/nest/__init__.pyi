# Written by `python -m tideflow.programs.stubs`.

from tideflow.graph.nest import assert_same_structure as assert_same_structure
from tideflow.graph.nest import flatten as flatten
from tideflow.graph.nest import is_nested as is_nested
from tideflow.graph.nest import map_structure as map_structure
from tideflow.graph.nest import pack_sequence_as as pack_sequence_as
