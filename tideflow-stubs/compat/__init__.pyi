# Written by `python -m tideflow.programs.stubs`.

from builtins import tuple as _tuple
from tideflow.compat import v1 as v1
from tideflow.compat import v2 as v2
from tideflow.graph.shapes import dimension_at_index as dimension_at_index
from tideflow.graph.shapes import dimension_value as dimension_value
from tideflow.platform.compat import as_bytes as as_bytes
from tideflow.platform.compat import as_str_any as as_str_any
from tideflow.platform.compat import as_text as _as_str
from tideflow.platform.compat import as_text as as_text
from tideflow.platform.compat import forward_compatibility_horizon as forward_compatibility_horizon
from tideflow.platform.compat import forward_compatible as forward_compatible
from tideflow.platform.compat import path_to_str as path_to_str

as_str = _as_str
bytes_or_text_types: _tuple
complex_types: _tuple
integral_types: _tuple
real_types: _tuple
