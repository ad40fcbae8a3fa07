"""Constructs in constructs, deeper than Python's stack."""

import sys

import pytest

import tideflow as tf

DEEP = 60


def loops(depth):
    body = loops(depth - 1) if depth else lambda i: i + 1
    return lambda i: tf.while_loop(lambda j: j < 1, body, [i])


def branches(depth):
    body = branches(depth - 1) if depth else lambda x: x + 1
    return lambda x: tf.cond(x >= 0, lambda: body(x), lambda: x)


@pytest.mark.parametrize("construct", [loops, branches])
def test_a_function_that_nests_deeper_than_the_stack_leaves_its_graph_whole(construct):
    """Building it is recursion of the program's own, in TensorFlow too."""
    with tf.Graph().as_default() as graph:
        zero, limit = tf.constant(0), sys.getrecursionlimit()
        sys.setrecursionlimit(len(list(_frames())) + 200)
        try:
            with pytest.raises(RecursionError):
                construct(DEEP)(zero)
        finally:
            sys.setrecursionlimit(limit)
        scopes = graph._local
        assert (scopes.depth, scopes.name_stack, scopes.context, scopes.controls) == (0, "", None, ())
        with tf.Session() as session:
            assert session.run(construct(2)(zero)) == 1


@pytest.mark.parametrize("construct", [loops, branches])
def test_a_graph_that_nests_deeply_is_imported_on_a_small_stack(construct):
    with tf.Graph().as_default() as graph:
        name = construct(DEEP // 2)(tf.constant(0)).name
    with tf.Graph().as_default(), tf.Session() as session:
        (result,) = tf.import_graph_def(graph.as_graph_def(), return_elements=[name])
        assert session.run(result) == 1


def _frames():
    frame = sys._getframe()
    while frame is not None:
        yield frame
        frame = frame.f_back
