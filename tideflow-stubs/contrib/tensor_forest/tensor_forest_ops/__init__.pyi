# Written by `python -m tideflow.programs.stubs`.

from tideflow.contrib.tensor_forest.ops import ReinterpretStringToFloat as ReinterpretStringToFloat
from tideflow.contrib.tensor_forest.ops import ScatterAddNdim as ScatterAddNdim
from tideflow.contrib.tensor_forest.ops import reinterpret_string_to_float as reinterpret_string_to_float
from tideflow.contrib.tensor_forest.ops import reinterpret_string_to_float_eager_fallback as reinterpret_string_to_float_eager_fallback
from tideflow.contrib.tensor_forest.ops import scatter_add_ndim as scatter_add_ndim
from tideflow.contrib.tensor_forest.ops import scatter_add_ndim_eager_fallback as scatter_add_ndim_eager_fallback
