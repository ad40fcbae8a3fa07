"""Shows a graph in TensorBoard: `python -m tensorflow.python.tools.import_pb_to_tensorboard`."""

from __future__ import annotations

from tensorboard.compat.proto.graph_pb2 import GraphDef

from tideflow.graph.graph import Graph
from tideflow.graph.graph_import import import_graph_def
from tideflow.programs.inner.tools.commands import parser_of
from tideflow.programs.inner.tools.graph_tools import parsed_file
from tideflow.summary.writer import FileWriter


def import_to_tensorboard(model_dir: str, log_dir: str) -> None:
    """Writes the graph of a file into a folder that TensorBoard shows.

    Args:
      model_dir: The file.
      log_dir: The folder.
    """
    with Graph().as_default() as graph:
        import_graph_def(parsed_file(model_dir, GraphDef(), True))
    with FileWriter(log_dir) as writer:
        writer.add_graph(graph)
    print(f"Model Imported. Visualize by running: tensorboard --logdir={log_dir}")


def main() -> None:
    """Shows the graph that the command line names."""
    parser = parser_of()
    parser.add_argument("--model_dir", required=True, help="the file of the graph")
    parser.add_argument("--log_dir", required=True, help="the folder that TensorBoard shows")
    import_to_tensorboard(**vars(parser.parse_args()))


if __name__ == "__main__":
    main()
