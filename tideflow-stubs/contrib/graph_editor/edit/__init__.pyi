# Written by `python -m tideflow.programs.stubs`.

from tideflow.contrib.graph_editor.edit import bypass as bypass
from tideflow.contrib.graph_editor.edit import connect as connect
from tideflow.contrib.graph_editor.edit import detach as detach
from tideflow.contrib.graph_editor.edit import detach_control_inputs as detach_control_inputs
from tideflow.contrib.graph_editor.edit import detach_control_outputs as detach_control_outputs
from tideflow.contrib.graph_editor.edit import detach_inputs as detach_inputs
from tideflow.contrib.graph_editor.edit import detach_outputs as detach_outputs
