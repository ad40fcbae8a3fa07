# Written by `python -m tideflow.programs.stubs`.

from tideflow.contrib.graph_editor.subgraph import SubGraphView as SubGraphView
from tideflow.contrib.graph_editor.subgraph import make_view as make_view
from tideflow.contrib.graph_editor.subgraph import make_view_from_scope as make_view_from_scope
