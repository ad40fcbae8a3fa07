# Written by `python -m tideflow.programs.stubs`.

from tideflow.contrib.framework.python.ops import audio_ops as audio_ops
