"""Frames as an imported GraphDef may have them: found where they are loops, run where they are not, refused
by name where they are broken. Nothing here ever waits for an end that cannot come.
"""

import pytest

import tideflow as tf
from tests.control_flow.frame_graphs import Frames

pytestmark = pytest.mark.usefixtures("graph")

IN_TIME = tf.RunOptions(timeout_in_ms=20_000)


@pytest.fixture
def frames():
    return Frames()


def run(session, fetches):
    return [None if value is None else value.tolist() for value in session.run(fetches, options=IN_TIME)]


def refused(session, fetches, *words):
    with pytest.raises(tf.errors.InvalidArgumentError) as caught:
        session.run(fetches, options=IN_TIME)
    for word in words:
        assert word in str(caught.value)


# ------------------------------------------------------------------------------------------------ loops


def test_a_loop_is_found_in_a_graph_def(session, frames):
    frames.counting_loop()
    frames.import_here()
    assert run(session, ["exit:0"]) == [5]


def test_a_found_loop_is_a_while_of_the_plan(frames):
    frames.counting_loop()
    frames.import_here()
    with tf.Session() as session:
        assert "while True:" in session.explain("exit:0")


def test_a_loop_within_a_loop_is_found(session, frames):
    """Outside: 0, 10, 20, 30. Inside: up to the next multiple of ten."""
    frames.counting_loop(limit=25)
    frames.message.node.remove(next(node for node in frames.message.node if node.name == "next"))
    frames.counting_loop("in_", begin="add", frame="inner")
    limit = next(node for node in frames.message.node if node.name == "in_limit")
    frames.message.node.remove(limit)
    frames.constant("ten", 9, "^switch")
    frames.add("goal", "add", "ten")
    frames.enter("in_limit", "goal", "inner", is_constant=True)
    frames.next("next", "in_exit")
    frames.import_here()
    assert run(session, ["exit:0"]) == [30]


def test_under_a_prefix(session, frames):
    frames.counting_loop()
    frames.import_here("p")
    assert run(session, ["p/exit:0"]) == [5]


def test_the_edge_that_goes_round_may_come_first(session, frames):
    frames.counting_loop()
    merge = next(node for node in frames.message.node if node.name == "merge")
    merge.input[:] = ["next", "enter"]
    frames.import_here()
    assert run(session, ["exit:0"]) == [5]


def test_a_loop_without_a_loop_cond(session, frames):
    frames.counting_loop()
    next(node for node in frames.message.node if node.name == "switch").input[1] = "less"
    frames.import_here()
    assert run(session, ["exit:0"]) == [5]


def test_a_frame_that_is_no_loop(session, frames):
    frames.constant("a", 1)
    frames.enter("in", "a")
    frames.exit("out", "in")
    frames.import_here()
    assert run(session, ["out:0"]) == [1]


# ------------------------------------------------------------------------------------------- other structures


def test_a_merge_of_three(session, frames):
    frames.constant("a", 1)
    frames.constant("no", False)
    frames.switch("s", "a", "no")
    frames.switch("t", "s:0", "no")
    frames.merge("m", "s:1", "t:1", "t:0")
    frames.import_here()
    assert run(session, ["m:0", "m:1"]) == [1, 2]


def test_a_merge_of_dead_values_is_dead(session, frames):
    frames.constant("a", 1)
    frames.constant("yes", True)
    frames.switch("s", "a", "yes")
    frames.identity("i", "s:0")
    frames.merge("m", "s:0", "i")
    frames.merge("whole", "m", "s:1")
    frames.import_here()
    assert run(session, ["whole:0"]) == [1]
    refused(session, ["m:0"], "'m:0' does not have a value")


def test_a_dead_value_enters_a_loop(session, frames):
    """The loop does not run; what leaves it is dead, and the other side of the Merge is taken."""
    frames.constant("no", False)
    frames.constant("a", 0)
    frames.switch("s", "a", "no")
    frames.counting_loop(begin="s:1")
    frames.constant("b", 77)
    frames.switch("t", "b", "no")
    frames.merge("m", "t:0", "exit")
    frames.import_here()
    assert run(session, ["m:0", "m:1"]) == [77, 0]
    refused(session, ["exit:0"], "does not have a value")


def test_both_sides_of_a_switch_leave(session, frames):
    """Of what every iteration would send out, the first is what leaves."""
    frames.counting_loop()
    frames.exit("early", "switch:1")
    frames.import_here()
    assert run(session, ["exit:0", "early:0"]) == [5, 0]


def test_a_constant_of_the_loop_leaves(session, frames):
    frames.counting_loop()
    frames.constant("k", 9)
    frames.enter("entered", "k", is_constant=True)
    frames.exit("left", "entered")
    frames.import_here()
    assert run(session, ["exit:0", "left:0"]) == [5, 9]


def test_which_input_a_loops_merge_took(session, frames):
    """0 in the first iteration, 1 in the four that follow."""
    frames.counting_loop()
    frames.constant("zero", 0)
    frames.enter("e", "zero")
    frames.merge("m", "e", "n")
    frames.switch("s", "m", "cond")
    frames.add("total", "s:1", "merge:1")
    frames.next("n", "total")
    frames.exit("x", "s")
    frames.import_here()
    assert run(session, ["x:0"]) == [4]


# ---------------------------------------------------------------------------------------------- broken frames


def test_fetching_inside_a_loop(session, frames):
    frames.counting_loop()
    frames.import_here()
    refused(session, ["merge:0"], "'merge:0' is inside a loop")
    refused(session, ["exit:0", "add:0"], "'add:0' is inside a loop")


def test_enter_without_exit(session, frames):
    frames.constant("a", 1)
    frames.enter("e", "a")
    frames.import_here()
    refused(session, ["e:0"], "'e:0' is inside a loop")


def test_exit_without_enter(session, frames):
    frames.constant("a", 1)
    frames.exit("x", "a")
    frames.import_here()
    refused(session, ["x:0"], "'x' (Exit) leaves a loop that nothing enters", "test_frames.py")


def test_next_iteration_without_a_loop(session, frames):
    frames.constant("a", 1)
    frames.next("n", "a")
    frames.import_here()
    refused(session, ["n:0"], "'n' (NextIteration) goes on in a loop that nothing enters")


def test_next_iteration_and_merge_without_enter(session, frames):
    frames.constant("a", 1)
    frames.merge("m", "a", "n")
    frames.next("n", "m")
    frames.import_here()
    refused(session, ["m:0"], "'n' (NextIteration)")


def test_merge_without_switch(session, frames):
    frames.constant("a", 1)
    frames.enter("e", "a")
    frames.merge("m", "e", "n")
    frames.next("n", "m")
    frames.exit("x", "m")
    frames.import_here()
    refused(session, ["x:0"], "frame 'f' can never end", "'n' (NextIteration)")


def test_two_loops_in_one_frame(session, frames):
    frames.counting_loop("p_", limit=3)
    frames.counting_loop("q_", limit=5)
    frames.import_here()
    refused(session, ["p_exit:0", "q_exit:0"], 'Loop "f" has more than one LoopCond', '"p_cond"', '"q_cond"')
    assert run(session, ["p_exit:0"]) == [3]  # the other is not part of this step


def test_a_loop_that_enters_its_own_frame_again(session, frames):
    frames.counting_loop("p_")
    frames.counting_loop("q_", limit=9, begin="p_exit")
    frames.import_here()
    refused(session, ["q_exit:0"], 'Loop "f" has more than one LoopCond')


def test_inputs_from_different_frames(session, frames):
    frames.constant("a", 1)
    frames.enter("e", "a", "f")
    frames.enter("d", "a", "g")
    frames.add("sum", "e", "d")
    frames.exit("x", "sum")
    frames.import_here()
    refused(
        session,
        ["x:0"],
        "'sum' has inputs from different frames",
        "'e' is in frame 'f'",
        "'d' is in frame 'g'",
    )


def test_an_input_from_outside(session, frames):
    frames.constant("a", 1)
    frames.enter("e", "a")
    frames.add("sum", "e", "a")
    frames.exit("x", "sum")
    frames.import_here()
    refused(session, ["x:0"], "'sum' has inputs from different frames")


def test_waiting_for_what_is_outside(session, frames):
    frames.constant("a", 1)
    frames.constant("z", 2)
    frames.enter("e", "a")
    frames.identity("i", "e", "^z")
    frames.exit("x", "i")
    frames.import_here()
    refused(session, ["x:0"], "'i' has inputs from different frames", "'z' is in frame ''")


def test_a_cycle_without_a_loop(frames):
    frames.constant("a", 1)
    frames.add("sum", "a", "back")
    frames.identity("back", "sum")
    with pytest.raises(ValueError, match=r"cycle: .*sum"):
        frames.import_here()
