"""The shape of the vocabulary: every op in one paragraph, at one address, under a name to search for."""

from __future__ import annotations

import ast
import importlib
from pathlib import Path

from tests.ops.cases import vocabulary
from tideflow.graph.op import Op, definitions, not_differentiable

ROOT = Path(__file__).parents[2]
OPS = ROOT / "tideflow" / "ops"
MODULES = sorted(path for path in OPS.rglob("*.py") if path.name != "__init__.py")
# Op types that other tests make in this process stand elsewhere.
OURS = {name: op for name, op in definitions().items() if Path(op.place[0]).is_relative_to(ROOT / "tideflow")}
PARTS = (
    "shape",
    "value",
    "sizes",
    "kernel",
    "specialize",
    "gradient",
    "flops",
    "samples",
    "refuses",
)  # in this order


def module_of(path: Path):
    return importlib.import_module(".".join(path.relative_to(ROOT).with_suffix("").parts))


def ops_of(path: Path) -> set[str]:
    """The names of a module's variables that are ops defined there."""
    ops = {name: op for name, op in vars(module_of(path)).items() if isinstance(op, Op)}
    return {name for name, op in ops.items() if op.place[0] == str(path)}


def parts_of(statement: ast.AST, ops: set[str]) -> list[tuple[str, str]]:
    """The parts (op, part) that a statement of a module registers."""
    attributes = [node for node in ast.walk(statement) if isinstance(node, ast.Attribute)]
    named = [(node.value.id, node.attr) for node in attributes if isinstance(node.value, ast.Name)]
    return [(name, part) for name, part in named if name in ops and part in PARTS]


def registrations(path: Path) -> list[tuple[str, str, int]]:
    """Op, part ("schema" for its definition) and place in the module, statement by statement."""
    ops, found = ops_of(path), []
    for place, statement in enumerate(ast.parse(path.read_text()).body):
        if isinstance(statement, ast.Assign) and isinstance(statement.targets[0], ast.Name):
            if statement.targets[0].id in ops:
                found.append((statement.targets[0].id, "schema", place))
        elif isinstance(statement, ast.FunctionDef):
            for decorator in statement.decorator_list:
                found += [(op, part, place) for op, part in parts_of(decorator, ops)]
        elif isinstance(statement, (ast.Expr, ast.For)):
            found += [(op, part, place) for op, part in parts_of(statement, ops)]
    return found


def test_the_parts_of_an_op_stand_together_and_in_order():
    order = ("schema", *PARTS)
    for path in MODULES:
        found = registrations(path)
        for op in {op for op, _, _ in found}:
            places = [place for name, _, place in found if name == op]
            strangers = {name for name, _, place in found if min(places) < place < max(places)} - {op}
            assert not strangers, f"between the parts of {op} stand parts of {', '.join(sorted(strangers))}"
            parts = [order.index(part) for name, part, _ in found if name == op]
            assert parts == sorted(parts), f"the parts of {op} stand as {[order[part] for part in parts]}"


def test_an_op_says_where_it_is_defined_by_its_whole_name():
    for name, op in OURS.items():
        file, line = op.place
        statement = Path(file).read_text().splitlines()[line - 1 : line + 30]
        assert f'"{name}"' in "\n".join(statement), f"{name} says {file}:{line}"


def test_registered_functions_carry_their_op_s_name():
    for op in OURS.values():
        parts = [op.shape_rule, op.value_rule, op.specialize_rule, *op.kernels.values()]
        if op.gradient_function is not not_differentiable:
            parts.append(op.gradient_function)
        for part in parts:
            name = part.__code__.co_name if hasattr(part, "__code__") else ""
            is_private = name.startswith(("_", "<")) and name.partition(".")[0] not in definitions()
            assert not is_private, f"{op.name} has a part {part}"


def test_every_function_of_the_package_has_a_name():
    unnamed = [
        f"{path.relative_to(ROOT)}:{node.lineno}"
        for path in (ROOT / "tideflow").rglob("*.py")
        for node in ast.walk(ast.parse(path.read_text()))
        if isinstance(node, ast.FunctionDef) and node.name == "_"
    ]
    assert not unnamed


def test_each_subpackage_says_what_it_is_about():
    assert not [path for path in OPS.glob("*.py") if path.name != "__init__.py"]
    for path in OPS.glob("*/__init__.py"):
        assert ast.get_docstring(ast.parse(path.read_text())), path


def test_helpers_define_no_op():
    assert not [op for op in definitions().values() if Path(op.place[0]).parent == OPS / "helpers"]


def test_an_op_without_samples_names_a_test_that_exists():
    for op in definitions().values():
        if op.covered_by is not None:
            assert (ROOT / op.covered_by).is_file(), (
                f"{op.name} is covered by {op.covered_by}, which is not there"
            )


def test_every_sampled_op_has_a_reference_or_a_law():
    without = [op.name for op in vocabulary().values() if op.sample_cases and not (op.reference or op.law)]
    assert not without
