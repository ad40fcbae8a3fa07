# Written by `python -m tideflow.programs.stubs`.

from tideflow.contrib.receptive_field import compute_receptive_field_from_graph_def as compute_receptive_field_from_graph_def
from tideflow.contrib.receptive_field import get_compute_order as get_compute_order
