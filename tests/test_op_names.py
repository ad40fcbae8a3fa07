"""Op types are named where they are defined. Elsewhere code asks an op's traits, or imports the op itself."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from pathlib import Path

import tideflow  # noqa: F401 - registers the vocabulary
from tideflow.graph.op import definitions

PACKAGE = Path(__file__).parents[1] / "tideflow"
CONTROL_FLOW = "reads or writes the structure of control flow and calls"
REWRITES = "rewrites graphs: its rules say which ops become which"
FILES = "reads files without loading the vocabulary"
PARTITIONS = "writes the graph of a partition in TensorFlow's own nodes"
WORDS = "names scopes, or values of an attribute, by words that name op types too"
TEXTS = "writes graphs down as texts, in which op types have other words"
CONVERSION = "converts values by ops of a room below, which it finds by name when it is used"
DUMPS = "reads graphs of steps that ran, with the nodes that stand for their edges"
LAYERS = "reads the layers of a GraphDef, which it tells apart by their op types"
MAY_NAME = {
    "serving/messages.py": WORDS,
    "autodiff/loops.py": CONTROL_FLOW,
    "cluster/multi_worker_strategy.py": WORDS,
    "cluster/tensorflow_clients/newer_ops.py": REWRITES,
    "compile/advice.py": CONTROL_FLOW,
    "compile/attention.py": REWRITES,
    "compile/build.py": CONTROL_FLOW,
    "compile/calls.py": CONTROL_FLOW,
    "compile/frames.py": CONTROL_FLOW,
    "compile/group.py": REWRITES,
    "compile/held.py": CONTROL_FLOW,
    "compile/ir.py": CONTROL_FLOW,
    "compile/mixed_precision.py": REWRITES,
    "compile/partition.py": CONTROL_FLOW,
    "compile/rules.py": REWRITES,
    "compile/rules_int8.py": REWRITES,
    "compile/rules_math.py": REWRITES,
    "compile/rules_nn.py": REWRITES,
    "compile/rules_state.py": REWRITES,
    "compile/rules_written_out.py": REWRITES,
    "compile/tokens.py": CONTROL_FLOW,
    "compat_v2/functions.py": WORDS,
    "compat_v2/summary.py": WORDS,
    "contrib/checkpoint.py": WORDS,
    "contrib/quantize/fused_batch_norms.py": REWRITES,
    "contrib/quantize/layers.py": REWRITES,
    "contrib/quantize/patterns.py": WORDS,
    "contrib/quantize/plain_batch_norms.py": REWRITES,
    "contrib/receptive_field.py": LAYERS,
    "contrib/specs/layers.py": WORDS,
    "contrib/specs/summaries.py": TEXTS,
    "contrib/training/sequence_states.py": WORDS,
    "exchange/texts.py": REWRITES,
    "graph/functions.py": CONTROL_FLOW,
    "graph/node_import.py": CONTROL_FLOW,
    "graph/graph_util.py": REWRITES,
    "graph/type_spec.py": CONVERSION,
    "inspect/graphs.py": FILES,
    "linalg/algebra.py": WORDS,
    "programs/debugger/cli/analyzer.py": DUMPS,
    "programs/debugger/dumps.py": DUMPS,
    "programs/debugger/graphs.py": DUMPS,
    "programs/inner/graph/constant_functions.py": REWRITES,
    "programs/inner/tools/inference_graphs.py": REWRITES,
    "programs/inner/tools/saved_model_commands.py": TEXTS,
    "programs/stubs.py": WORDS,
    "programs/inner/tools/graph_tools.py": REWRITES,
    "runtime/barriers.py": WORDS,
    "runtime/collectives.py": WORDS,
    "runtime/process_groups.py": WORDS,
    "session/cost_graph.py": PARTITIONS,
    "session/partitions.py": PARTITIONS,
    "variables/context_protos.py": CONTROL_FLOW,
    "variables/meta_graph.py": CONTROL_FLOW,
    "variables/initial.py": CONTROL_FLOW,
}
# Calls and parameters that take the name of a node, which often is that of an op type, or define one.
NAMING_CALLS = {
    "name_scope",
    "op_scope",
    "variable_scope",
    "export",
    "expose",
    "_scope",
    "tagged",
    "number",
    "_pool_layer",
    "_with_broadcast",
    "metric",
    "Op",
}
NAMING_PARAMETERS = {"name", "default_name", "scope", "kind", "__all__"}

OTHER_VOCABULARY = PACKAGE / "exchange" / "onnx_operators"  # whose names are ONNX's
MODULES = sorted(
    path
    for path in PACKAGE.rglob("*.py")
    if path.relative_to(PACKAGE).parts[0] != "ops" and path.parent != OTHER_VOCABULARY
)


def literal_op_types(source: str) -> Iterator[tuple[int, str]]:
    """The lines and op types that a module names, other than as the name of a node."""
    tree = ast.parse(source)
    parents = {child: node for node in ast.walk(tree) for child in ast.iter_child_nodes(node)}
    for node in ast.walk(tree):
        is_text = isinstance(node, ast.Constant) and isinstance(node.value, str)
        if is_text and node.value in definitions() and not _names_a_node(node, parents):
            yield node.lineno, node.value


def _names_a_node(node: ast.AST, parents: dict[ast.AST, ast.AST]) -> bool:
    parent = parents[node]
    while isinstance(parent, (ast.IfExp, ast.BoolOp, ast.List)):
        parent = parents[parent]
    if isinstance(parent, ast.keyword):
        return parent.arg in NAMING_PARAMETERS
    if isinstance(parent, ast.Call):
        function = parent.func
        called = function.id if isinstance(function, ast.Name) else getattr(function, "attr", "")
        return called in NAMING_CALLS
    if isinstance(parent, ast.Assign):
        return isinstance(parent.targets[0], ast.Name) and parent.targets[0].id in NAMING_PARAMETERS
    return isinstance(parent, ast.arguments)


def test_op_types_are_named_in_ops_only():
    found = {str(path.relative_to(PACKAGE)): list(literal_op_types(path.read_text())) for path in MODULES}
    assert not {name: names for name, names in found.items() if names and name not in MAY_NAME}
    assert not [name for name in MAY_NAME if not found[name]], "these need no exception"


def test_the_rule_finds_what_it_forbids():
    found = [
        name for _, name in literal_op_types('if op.type == "MatMul" or op.type in ("Add", "Sub"): pass')
    ]
    assert found == ["MatMul", "Add", "Sub"]
    assert not list(literal_op_types('with name_scope(name, "MatMul"): x = add(a, b, name="Add")'))
