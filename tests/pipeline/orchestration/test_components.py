"""orchestration/components.py, pipelines.py and schedule.py: what pipelines are made of, and the order."""

import pytest

from tests.pipeline.orchestration.fakes import Count, Judge, Read, Words, make
from tideflow.graph import errors
from tideflow.pipeline.orchestration import pipelines
from tideflow.pipeline.orchestration.pipelines import Pipeline
from tideflow.pipeline.orchestration.schedule import Schedule, Skip, Start, Wait


def test_nodes_know_their_types():
    read = Read(folder="x")
    assert read.outputs["words"].type is Words and read.parameters == {"folder": "x"}
    count = Count(words=read.outputs["words"])
    assert count.parameters == {"scale": 1, "function": len} and list(count.dependencies()) == [read]
    with pytest.raises(TypeError, match="Judge: model takes Model, and was given Counts"):
        Judge(model=count.outputs["counts"])
    with pytest.raises(
        TypeError, match=r'words is to be an output of a component, such as node.outputs\["words"\]'
    ):
        Count(words=read)
    with pytest.raises(TypeError, match="Count has no input schema"):
        count.take(schema=read.outputs["words"])
    with pytest.raises(TypeError, match="earlier takes Counts, and was given Words"):
        count.take(earlier=read.outputs["words"])
    with pytest.raises(TypeError, match="Count: missing a required argument: 'words'"):
        Count()
    with pytest.raises(TypeError, match="Read: got an unexpected keyword argument 'words'"):
        Read(folder="x", words=read.outputs["words"])


def test_a_pipeline_is_whole(tmp_path):
    read = Read(folder="x")
    count = Count(words=read.outputs["words"])
    with pytest.raises(
        ValueError, match="Count depends on Read, which is not among the pipeline's components"
    ):
        Pipeline("p", tmp_path, [count])
    with pytest.raises(ValueError, match="p has Read twice: give one of them another name by named"):
        Pipeline("p", tmp_path, [read, Read(folder="y")])
    with pytest.raises(ValueError, match=r"'\.\./p' is no name"):
        Pipeline("../p", tmp_path, [read])
    read.after(count)
    with pytest.raises(ValueError, match="in a circle: Read -> Count -> Read"):
        Pipeline("p", tmp_path, [read, count])
    made = make("x", tmp_path)
    assert made.plan()["Report"] == {"component": "Report", "after": ["Count", "Judge"]}


def test_the_schedule_goes_around_what_stopped():
    schedule = Schedule({"d": ["b", "c"], "b": ["a"], "c": ["a"], "a": [], "e": ["d"], "f": ["c"]})
    assert [schedule.next(), schedule.next()] == [Start("a"), Wait()]
    schedule.end("a")
    assert [schedule.next(), schedule.next()] == [Start("b"), Wait()]
    schedule.stop("b", ["no"])
    assert [schedule.next(), schedule.next()] == [Start("c"), Wait()]
    schedule.end("c")
    assert schedule.next() == Skip("d", ("b: no",))
    assert schedule.next() == Skip("e", ("b: no",))
    assert schedule.next() == Start("f")
    schedule.end("f")
    assert schedule.next() is None


def test_the_schedule_starts_together_what_does_not_depend_on_each_other():
    dependencies = {"a": [], "b": [], "c": [], "d": ["a"], "quiet": ["a"]}
    schedule = Schedule(dependencies, at_once=2, alone={"quiet"})
    assert [schedule.next() for _ in range(3)] == [Start("a"), Start("b"), Wait()]
    schedule.end("a")
    assert [schedule.next(), schedule.next()] == [Start("c"), Wait()]
    schedule.end("b")
    schedule.end("c")
    assert [schedule.next(), schedule.next()] == [Start("d"), Wait()]  # the quiet one waits for silence
    schedule.end("d")
    assert [schedule.next(), schedule.next()] == [Start("quiet"), Wait()]
    schedule.end("quiet")
    assert schedule.next() is None
    alone = Schedule({"quiet": [], "a": []}, at_once=2, alone={"quiet"})
    assert [alone.next(), alone.next()] == [Start("quiet"), Wait()]  # and nothing begins beside it


PROGRAM = """
from tests.pipeline.orchestration.fakes import make

def create_pipeline(folder, root="{root}", scale=1):
    return make(folder, root, scale)
"""


def test_truth_values_are_said_in_either_way(tmp_path):
    program = tmp_path / "program.py"
    program.write_text("def create_pipeline(broken=False, name=''):\n    return broken, name\n")
    for text in ("true", "True"):
        with pytest.raises(errors.InvalidArgumentError, match=r"returned \(True, 'true'\)"):
            pipelines.load(program, {"broken": text, "name": "true"})
    with pytest.raises(errors.InvalidArgumentError, match="broken is to be of type bool, not 'yes'"):
        pipelines.load(program, {"broken": "yes"})


def test_programs_are_loaded(tmp_path):
    program = tmp_path / "words_pipeline.py"
    program.write_text(PROGRAM.format(root=tmp_path / "root"))
    loaded = pipelines.load(program, {"folder": "x", "scale": "3"})
    count = next(node for node in loaded.components if node.name == "Count")
    assert loaded.root == tmp_path / "root" and count.parameters["scale"] == 3
    elsewhere = tmp_path / "elsewhere"  # which the program is told, for what it puts beside its artifacts
    program.write_text(program.read_text().replace("make(folder, root", "make(root, root"))
    moved = pipelines.load(program, {"folder": "x"}, root=elsewhere)
    read = next(node for node in moved.components if "folder" in node.parameters)
    assert moved.root == elsewhere and read.parameters["folder"] == str(elsewhere)
    with pytest.raises(errors.InvalidArgumentError, match="scale is to be of type int, not 'many'"):
        pipelines.load(program, {"folder": "x", "scale": "many"})
    with pytest.raises(errors.InvalidArgumentError, match="missing a required argument: 'folder'"):
        pipelines.load(program)
    with pytest.raises(errors.NotFoundError, match="there is no file"):
        pipelines.load(tmp_path / "none.py")
    program.write_text("")
    with pytest.raises(errors.InvalidArgumentError, match="defines no function create_pipeline"):
        pipelines.load(program)
