# Written by `python -m tideflow.programs.stubs`.

from builtins import int as _int
from tideflow.platform.pywrap import is_mkl_enabled as _IsMklEnabled
from tideflow.platform.testing import is_built_with_cuda as _IsGoogleCudaEnabled
from tideflow.platform.testing import is_built_with_rocm as _IsBuiltWithROCm
from tideflow.train.checkpoint_utils import NewCheckpointReader as NewCheckpointReader

GRAPH_DEF_VERSION: _int
IsBuiltWithROCm = _IsBuiltWithROCm
IsGoogleCudaEnabled = _IsGoogleCudaEnabled
IsMklEnabled = _IsMklEnabled
