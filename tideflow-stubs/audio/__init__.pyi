# Written by `python -m tideflow.programs.stubs`.

from tideflow.ops.signals.audio import decode_wav as decode_wav
from tideflow.ops.signals.audio import encode_wav as encode_wav
