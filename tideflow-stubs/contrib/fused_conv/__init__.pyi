# Written by `python -m tideflow.programs.stubs`.

from tideflow.contrib.fused_conv import fused_conv2d_bias_activation as fused_conv2d_bias_activation
