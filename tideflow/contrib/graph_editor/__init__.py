"""`tf.contrib.graph_editor`: graphs changed after they were built: selected, copied, cut and rewired."""

from tideflow.contrib.graph_editor import edit, reroute, select, subgraph, transform, util  # noqa: F401
