"""Recurrent cells and networks: what they refuse, and how."""

from kit import cases, raises

_ERRORS = {
    "no dtype": lambda tf, c: tf.nn.dynamic_rnn(c.GRUCell(3), tf.zeros([2, 5, 3])),
    "no dtype static": lambda tf, c: tf.nn.static_rnn(c.GRUCell(3), [tf.zeros([2, 3])]),
    "not a cell": lambda tf, c: tf.nn.dynamic_rnn(tf.zeros, tf.zeros([2, 5, 3]), dtype=tf.float32),
    "a number": lambda tf, c: tf.nn.dynamic_rnn(3, tf.zeros([2, 5, 3]), dtype=tf.float32),
    "not a cell static": lambda tf, c: tf.nn.static_rnn(None, [tf.zeros([2, 3])], dtype=tf.float32),
    "not a cell raw": lambda tf, c: tf.nn.raw_rnn(3, lambda *a: a),
    "not a cell bw": lambda tf, c: tf.nn.bidirectional_dynamic_rnn(c.GRUCell(3), 3, tf.zeros([2, 5, 3])),
    "not a function": lambda tf, c: tf.nn.raw_rnn(c.GRUCell(3), 3),
    "rank 2": lambda tf, c: tf.nn.dynamic_rnn(c.GRUCell(3), tf.zeros([2, 3]), dtype=tf.float32),
    "rank 1": lambda tf, c: tf.nn.dynamic_rnn(c.GRUCell(3), tf.zeros([3]), dtype=tf.float32),
    "unknown rank": lambda tf, c: tf.nn.dynamic_rnn(
        c.GRUCell(3), tf.placeholder(tf.float32), dtype=tf.float32
    ),
    "unknown depth": lambda tf, c: tf.nn.dynamic_rnn(
        c.GRUCell(3), tf.placeholder(tf.float32, [2, 5, None]), dtype=tf.float32
    ),
    "unknown depth cell": lambda tf, c: c.GRUCell(3)(tf.placeholder(tf.float32, [2, None]), tf.zeros([2, 3])),
    "unknown depth lstm": lambda tf, c: c.LSTMCell(3)(
        tf.placeholder(tf.float32, [2, None]), (tf.zeros([2, 3]), tf.zeros([2, 3]))
    ),
    "times differ": lambda tf, c: tf.nn.dynamic_rnn(
        c.GRUCell(3), (tf.zeros([2, 5, 3]), tf.zeros([2, 4, 3])), dtype=tf.float32
    ),
    "batches differ": lambda tf, c: tf.nn.dynamic_rnn(
        c.GRUCell(3), (tf.zeros([2, 5, 3]), tf.zeros([3, 5, 3])), dtype=tf.float32
    ),
    "lengths of rank 2": lambda tf, c: tf.nn.dynamic_rnn(
        c.GRUCell(3), tf.zeros([2, 5, 3]), tf.zeros([2, 1], tf.int32), dtype=tf.float32
    ),
    "lengths of rank 2 static": lambda tf, c: tf.nn.static_rnn(
        c.GRUCell(3), [tf.zeros([2, 3])], dtype=tf.float32, sequence_length=tf.zeros([2, 1], tf.int32)
    ),
    "not a sequence": lambda tf, c: tf.nn.static_rnn(c.GRUCell(3), tf.zeros([2, 3]), dtype=tf.float32),
    "empty": lambda tf, c: tf.nn.static_rnn(c.GRUCell(3), [], dtype=tf.float32),
    "empty both ways": lambda tf, c: tf.nn.static_bidirectional_rnn(c.GRUCell(3), c.GRUCell(3), []),
    "static batches differ": lambda tf, c: tf.nn.static_rnn(
        c.GRUCell(3), [tf.zeros([2, 3]), tf.zeros([4, 3])], dtype=tf.float32
    ),
    "static depth": lambda tf, c: tf.nn.static_rnn(
        c.GRUCell(3), [tf.placeholder(tf.float32, [2, None])], dtype=tf.float32
    ),
    "state not a tuple": lambda tf, c: c.LSTMCell(3)(tf.zeros([2, 3]), tf.zeros([2, 3])),
    "state of three": lambda tf, c: c.LSTMCell(3)(tf.zeros([2, 3]), (tf.zeros([2, 3]),) * 3),
    "state for many": lambda tf, c: c.MultiRNNCell([c.GRUCell(3)])(tf.zeros([2, 3]), tf.zeros([2, 3])),
    "state of another structure": lambda tf, c: tf.nn.dynamic_rnn(
        c.LSTMCell(3), tf.zeros([2, 5, 3]), initial_state=(tf.zeros([2, 3]), tf.zeros([2, 3]))
    ),
    "state of another width": lambda tf, c: tf.nn.dynamic_rnn(
        c.GRUCell(3), tf.zeros([2, 5, 3]), initial_state=tf.zeros([2, 4])
    ),
    "state of another batch": lambda tf, c: tf.nn.dynamic_rnn(
        c.GRUCell(3), tf.zeros([2, 5, 3]), initial_state=tf.zeros([4, 3])
    ),
    "state of another dtype": lambda tf, c: tf.nn.dynamic_rnn(
        c.GRUCell(3), tf.zeros([2, 5, 3]), initial_state=tf.zeros([2, 3], tf.float64)
    ),
    "integers": lambda tf, c: tf.nn.dynamic_rnn(
        c.GRUCell(3), tf.zeros([2, 5, 3], tf.int32), dtype=tf.float32
    ),
    "integer cell": lambda tf, c: c.BasicRNNCell(3, dtype=tf.int32),
    "integer state": lambda tf, c: c.BasicRNNCell(3)(tf.zeros([2, 3]), tf.zeros([2, 3], tf.int32)),
    "input of rank 3": lambda tf, c: c.BasicLSTMCell(3)(tf.zeros([2, 3, 3]), (tf.zeros([2, 3]),) * 2),
    "other width": lambda tf, c: [
        cell(tf.zeros([2, n]), tf.zeros([2, 3])) for cell in [c.GRUCell(3)] for n in (3, 4)
    ],
    "no cells": lambda tf, c: c.MultiRNNCell([]),
    "cells not a list": lambda tf, c: c.MultiRNNCell(c.GRUCell(3)),
    "joined tuples": lambda tf, c: c.MultiRNNCell([c.LSTMCell(3)], state_is_tuple=False),
    "unknown activation": lambda tf, c: c.GRUCell(3, activation="nope"),
    "activation of number": lambda tf, c: c.GRUCell(3, activation=3),
    "unknown initializer": lambda tf, c: c.LSTMCell(3, initializer="nope"),
    "unknown argument": lambda tf, c: c.GRUCell(3, colour="red"),
    "keep prob": lambda tf, c: c.DropoutWrapper(c.GRUCell(3), 1.5),
    "negative keep prob": lambda tf, c: c.DropoutWrapper(c.GRUCell(3), output_keep_prob=-0.1),
    "wrapped number": lambda tf, c: c.DropoutWrapper(3),
    "residual number": lambda tf, c: c.ResidualWrapper(3),
    "visitor": lambda tf, c: c.DropoutWrapper(c.GRUCell(3), dropout_state_filter_visitor=3),
    "variational dtype": lambda tf, c: c.DropoutWrapper(c.GRUCell(3), 0.5, variational_recurrent=True),
    "variational size": lambda tf, c: c.DropoutWrapper(
        c.GRUCell(3), 0.5, variational_recurrent=True, dtype=tf.float32
    ),
    "residual shapes": lambda tf, c: c.ResidualWrapper(c.GRUCell(3))(tf.zeros([2, 4]), tf.zeros([2, 3])),
    "bare cell": lambda tf, c: c.RNNCell().zero_state(2, tf.float32),
    "zero state of rank 2": lambda tf, c: c.GRUCell(3).zero_state(tf.zeros([1, 1], tf.int32), tf.float32),
    "zero state of none": lambda tf, c: c.GRUCell(3).zero_state(None, tf.float32),
    "scope name": lambda tf, c: c.GRUCell(3).scope_name,
    "mixed state": lambda tf, c: c.LSTMStateTuple(tf.zeros([1]), tf.zeros([1], tf.int32)).dtype,
}


@cases(*_ERRORS)
def errors(tf, np, case):
    return raises(_ERRORS[case], tf, tf.nn.rnn_cell)


def static_errors_of_structure(tf, np):
    class Odd(tf.nn.rnn_cell.RNNCell):
        state_size = 3
        output_size = 3

        def call(self, inputs, state):
            return inputs, (state, state)

    x = tf.zeros([2, 5, 3])
    return [
        raises(tf.nn.dynamic_rnn, Odd(), x, dtype=tf.float32),
        raises(tf.nn.dynamic_rnn, Odd(), x, [1, 2], dtype=tf.float32),
        raises(tf.nn.static_rnn, Odd(), [x[:, 0]], dtype=tf.float32, sequence_length=[1, 2]),
    ]


def public_names(tf, np):
    return [n for n in dir(tf.nn.rnn_cell) if not n.startswith("_")]
