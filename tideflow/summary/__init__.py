"""What a program shows of itself in TensorBoard: summaries in the graph, and the files they go to."""

from tideflow.summary import functions, recording, writer  # noqa: F401
