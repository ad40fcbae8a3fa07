# Written by `python -m tideflow.programs.stubs`.

from tideflow.ops.arrays.periodic import periodic_resample as periodic_resample
