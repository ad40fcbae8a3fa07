# Written by `python -m tideflow.programs.stubs`.

from builtins import str as _str

GPU: _str
SERVING: _str
TPU: _str
TRAINING: _str
