# Written by `python -m tideflow.programs.stubs`.

from tideflow.contrib.nearest_neighbor import hyperplane_lsh_probes as hyperplane_lsh_probes
