# Written by `python -m tideflow.programs.stubs`.

from tideflow.graph.scopes import name_scope as name_scope
