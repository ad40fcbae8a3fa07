"""The count of what is there: honest about stubs and arguments, and docs/coverage.md is up to date."""

from pathlib import Path

import pytest

import tideflow as tf
from tideflow.programs import coverage, namespace, specification
from tideflow.programs.specification import Argument, Symbol

PAGE = Path(__file__).parents[2] / "docs" / "coverage.md"


@pytest.fixture(scope="module")
def measured():
    return coverage.measure()


def test_the_page_is_what_the_command_writes(measured):
    assert PAGE.read_text(encoding="utf-8") == coverage.as_markdown(measured), (
        "docs/coverage.md is not what is there: run `tideflow coverage --write`"
    )


def test_the_lists_are_read_whole():
    symbols = specification.symbols()
    assert len(symbols) == 1958 and len(specification.op_types()) == 1190
    assert list(map(str, symbols["io.decode_csv"].arguments)) == [
        "records", "record_defaults", "field_delim=,", "use_quote_delim=True", "name=None", "na_value=",
        "select_cols=None",
    ]  # fmt: skip
    assert str(symbols["layers.Conv2D"].arguments[2]) == "strides=(1, 1)"
    assert symbols["layers.Conv2D"].arguments[0].name == "filters"  # self is not counted
    assert "add_loss" in symbols["layers.Conv2D"].members
    assert symbols["nn"].arguments is None and symbols["nn.relu"].area == "tf.nn"
    assert len(specification.more_symbols()) == 643 and len(specification.contrib_symbols()) == 1703
    assert not specification.more_symbols().keys() & symbols.keys()
    learn = specification.contrib_symbols()["contrib.learn.preprocessing.VocabularyProcessor"]
    assert learn.is_class and learn.arguments[0].name == "max_document_length"


def test_what_tensorflow_has_is_known():
    for path in ("nn.relu", "nn", "keras.layers", "keras.layers.Dense", "contrib", "contrib.learn", "lite"):
        assert specification.is_in_tensorflow(path), path
    for path in ("nn.reluu", "contrib.gan", "keras.layers.Dens"):
        assert not specification.is_in_tensorflow(path), path


def test_counts_add_up(measured):
    assert sum(area.total for area in measured.areas) == measured.total == len(specification.symbols())
    assert len(measured.ops) + len(measured.missing_ops) == len(specification.op_types())
    assert set(measured.ops_with_gradient) < set(measured.ops)
    assert len(measured.ops) >= 650 and measured.there >= 1300
    apart = [area for areas in measured.apart.values() for area in areas]
    listed = {**specification.more_symbols(), **specification.contrib_symbols()}
    assert sum(area.total for area in apart) == len(listed)


def test_the_headline_says_what_the_count_leaves_out(measured):
    counts = " ".join(coverage.headline(measured))
    assert "Left out here" in counts and "Keras, estimators" in counts and "of contrib" in counts


@pytest.mark.parametrize(
    "name, said",
    [
        ("tf.nn.relu", ("tf.nn.relu is there", True)),
        ("nn.relu", ("tf.nn.relu is there", True)),
        ("tf.load_file_system_library", ("tf.load_file_system_library is missing", False)),
        ("tf.contrib.summary.create_db_writer", ("tf.contrib.summary.create_db_writer is missing", False)),
        ("tf.nn.reluu", None),
    ],
)
def test_one_symbol(name, said):
    assert coverage.judge(name) == said


def area(measured, name):
    return next(area for area in measured.areas if area.name == name)


def test_a_function_that_only_refuses_does_not_count(measured):
    root = area(measured, "tf")
    assert "load_file_system_library" in root.missing and "disable_eager_execution" in root.there
    assert "Variable" in root.there and "Session" in root.there
    assert "keras" not in root.missing  # there is something in it
    assert "lite" in root.missing


class Thing:
    """Something to compare."""

    size = 3

    def __init__(self, a, b=2, name=None):
        self.a = a


def symbol(text: str, members: tuple = (), is_class: bool = False) -> Symbol:
    arguments = [Argument(*((*part.split("="), None)[:2])) for part in text.split(", ")] if text else []
    return Symbol("thing", is_class, tuple(arguments), members)


@pytest.mark.parametrize(
    "promised, function, found",
    [
        ("a, b=1", lambda a, b=1: a, []),
        ("a, b=1", lambda a, b=2: a, ["b=1 is 2"]),
        ("a, b=1", lambda a, b: a, ["b=1 is no default"]),
        ("a, b", lambda a, b=1: a, ["b=None is 1"]),
        ("a, b=1", lambda a: a, ["lacks the argument b"]),
        ("a, b=1", lambda a, **kwargs: a, ["takes only as a keyword b"]),
        ("a, b=1", lambda a, *, b=1: a, ["takes (a) by position, not (a, b)"]),
        ("a, b=1", lambda b=1, a=None: a, ["takes (b, a) by position, not (a, b)", "a=None is None"]),
        ("a", lambda a, c=0: a, ["takes c besides"]),
        ("a", lambda a, *, c=0: a, []),
        ("a, *inputs", lambda a, *rest: a, []),
        ("a, *inputs", lambda a: a, ["does not take *inputs"]),
        ("a, **kwargs", lambda a, *, name=None: a, []),
        ("strides=(1; 1)", lambda strides=1: strides, []),
        ("dtype=float32", lambda dtype=tf.float32: dtype, []),
        ("dims=[1; 1]", lambda dims=(1, 1): dims, []),
        ("init=<an object instance>", lambda init=object(): init, []),
    ],
)
def test_differences_of_arguments(promised, function, found):
    wanted = symbol(promised)
    arguments = tuple(Argument(a.name, a.default and a.default.replace(";", ",")) for a in wanted.arguments)
    assert coverage.differences(Symbol("thing", False, arguments), function) == found


def test_differences_of_members():
    wanted = symbol("a, b=2, name=None", ("a", "size", "weight"), is_class=True)
    assert coverage.differences(wanted, Thing) == ["lacks weight"]


def test_the_text_lists_an_area_that_is_asked_for(measured):
    text = coverage.as_text(measured, ["tf.train"])
    assert f"{measured.there} of {measured.total} public symbols are there" in text
    missing = area(measured, "tf.train").missing
    assert all(f"  missing  tf.{path}\n" in text + "\n" for path in missing)


def test_the_namespace_knows_what_is_public():
    assert (
        namespace.is_namespace("nn") and namespace.is_namespace("") and not namespace.is_namespace("runtime")
    )
    assert "relu" in namespace.names("nn") and "layers" in namespace.names("contrib")
    assert namespace.resolve("nn.relu") is tf.nn.relu
    assert namespace.resolve("flags.DEFINE_string") is tf.flags.DEFINE_string
    for path in ("nn.nothing", "nothing", "ops.binary", "nn.relu.nothing"):
        with pytest.raises(namespace.Missing):
            namespace.resolve(path)
    assert namespace.nearest("nn.matmul")[0] == "matmul"
    assert namespace.nearest("train.SummaryWriter") == ["summary.FileWriter"]
