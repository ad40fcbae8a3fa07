# Written by `python -m tideflow.programs.stubs`.

from tideflow.cluster.server import Server as Server
from tideflow.distribute import cluster_resolver as cluster_resolver
