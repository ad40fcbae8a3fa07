# Written by `python -m tideflow.programs.stubs`.

from tideflow import assert_greater as assert_greater
from tideflow import assert_greater_equal as assert_greater_equal
from tideflow import assert_less as assert_less
from tideflow import assert_less_equal as assert_less_equal
from tideflow import assert_negative as assert_negative
from tideflow import assert_non_negative as assert_non_negative
from tideflow import assert_non_positive as assert_non_positive
from tideflow import assert_none_equal as assert_none_equal
from tideflow import assert_positive as assert_positive
from tideflow import is_finite as is_finite
from tideflow import is_inf as is_inf
from tideflow import is_nan as is_nan
from tideflow.ops.control_flow.debugging import Assert as Assert
from tideflow.ops.control_flow.debugging import check_numerics as check_numerics
from tideflow.ops.math.checks import assert_equal as assert_equal
from tideflow.ops.math.checks import assert_integer as assert_integer
from tideflow.ops.math.checks import assert_near as assert_near
from tideflow.ops.math.checks import assert_proper_iterable as assert_proper_iterable
from tideflow.ops.math.checks import assert_rank as assert_rank
from tideflow.ops.math.checks import assert_rank_at_least as assert_rank_at_least
from tideflow.ops.math.checks import assert_rank_in as assert_rank_in
from tideflow.ops.math.checks import assert_same_float_dtype as assert_same_float_dtype
from tideflow.ops.math.checks import assert_scalar as assert_scalar
from tideflow.ops.math.checks import assert_shapes as assert_shapes
from tideflow.ops.math.checks import assert_type as assert_type
from tideflow.ops.math.checks import is_non_decreasing as is_non_decreasing
from tideflow.ops.math.checks import is_numeric_tensor as is_numeric_tensor
from tideflow.ops.math.checks import is_strictly_increasing as is_strictly_increasing
from tideflow.ops.math.checks import verify_tensor_all_finite as _assert_all_finite
from tideflow.platform.config import get_log_device_placement as get_log_device_placement
from tideflow.platform.config import set_log_device_placement as set_log_device_placement

assert_all_finite = _assert_all_finite
