# Written by `python -m tideflow.programs.stubs`.

from builtins import int as _int
from builtins import str as _str

COMPILER_VERSION: _str
GIT_VERSION: _str
GRAPH_DEF_VERSION: _int
GRAPH_DEF_VERSION_MIN_CONSUMER: _int
GRAPH_DEF_VERSION_MIN_PRODUCER: _int
VERSION: _str
