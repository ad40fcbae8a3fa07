# Written by `python -m tideflow.programs.stubs`.

from tideflow.autograph import experimental as experimental
from tideflow.autograph.api import to_code as to_code
from tideflow.autograph.api import to_graph as to_graph
from tideflow.autograph.verbosity import set_verbosity as set_verbosity
from tideflow.autograph.verbosity import trace as trace
