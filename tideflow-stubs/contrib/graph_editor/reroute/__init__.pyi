# Written by `python -m tideflow.programs.stubs`.

from tideflow.contrib.graph_editor.reroute import add_control_inputs as add_control_inputs
from tideflow.contrib.graph_editor.reroute import remove_control_inputs as remove_control_inputs
from tideflow.contrib.graph_editor.reroute import reroute_inputs as reroute_inputs
from tideflow.contrib.graph_editor.reroute import reroute_ios as reroute_ios
from tideflow.contrib.graph_editor.reroute import reroute_outputs as reroute_outputs
from tideflow.contrib.graph_editor.reroute import reroute_ts as reroute_ts
from tideflow.contrib.graph_editor.reroute import swap_inputs as swap_inputs
from tideflow.contrib.graph_editor.reroute import swap_ios as swap_ios
from tideflow.contrib.graph_editor.reroute import swap_outputs as swap_outputs
from tideflow.contrib.graph_editor.reroute import swap_ts as swap_ts
