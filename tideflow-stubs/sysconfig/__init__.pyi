# Written by `python -m tideflow.programs.stubs`.

from builtins import int as _int
from tideflow.platform.version import get_compile_flags as get_compile_flags
from tideflow.platform.version import get_include as get_include
from tideflow.platform.version import get_lib as get_lib
from tideflow.platform.version import get_link_flags as get_link_flags

CXX11_ABI_FLAG: _int
MONOLITHIC_BUILD: _int
