# Written by `python -m tideflow.programs.stubs`.

from tideflow.ops.images.warps import resampler as resampler
