"""Neural Turing machines (Graves et al., 2014): a controller that reads and writes a memory.

Not in contrib's public namespace: programs take them from `contrib.rnn.python.ops.rnn_cell`.
"""

from __future__ import annotations

import math
from collections import namedtuple
from typing import Any

import tideflow as tf
from tideflow.graph.operation import Tensor
from tideflow.rnn.cells import LayerRNNCell, assert_like_rnncell

NTMControllerState = namedtuple(
    "NTMControllerState", ("controller_state", "read_vector_list", "w_list", "M", "time")
)


class NTMCell(LayerRNNCell):
    """A neural Turing machine with one layer of heads.

    Args:
      controller: The cell that says where and what the heads read and write.
      memory_size: The number of rows of the memory.
      memory_vector_dim: The size of a row.
      read_head_num: The number of heads that read.
      write_head_num: The number of heads that write.
      shift_range: By how many rows a head may move in a step.
      output_dim: The size of the output; that of the input if None.
      clip_value: The largest size of the heads' parameters and of the output.
      dtype: The type of the variables.
      name: The name of the cell.
    """

    def __init__(
        self,
        controller: Any,
        memory_size: int,
        memory_vector_dim: int,
        read_head_num: int,
        write_head_num: int,
        shift_range: int = 1,
        output_dim: int | None = None,
        clip_value: float = 20,
        dtype: Any = tf.float32,
        name: str | None = None,
    ):
        super().__init__(dtype=dtype, name=name)
        assert_like_rnncell("NTM RNN controller cell", controller)
        self.controller = controller
        self.memory_size = memory_size
        self.memory_vector_dim = memory_vector_dim
        self.read_head_num = read_head_num
        self.write_head_num = write_head_num
        self.clip_value = clip_value
        self.output_dim = output_dim
        self.shift_range = shift_range
        # A head has a key, and its strength, its gate, its shifts and how sharp it is.
        self.num_parameters_per_head = memory_vector_dim + 2 * shift_range + 4
        self.num_heads = read_head_num + write_head_num
        self.total_parameter_num = (
            self.num_parameters_per_head * self.num_heads + memory_vector_dim * 2 * write_head_num
        )

    @property
    def state_size(self) -> NTMControllerState:
        return NTMControllerState(
            controller_state=self.controller.state_size,
            read_vector_list=[self.memory_vector_dim] * self.read_head_num,
            w_list=[self.memory_size] * self.num_heads,
            M=tf.TensorShape([self.memory_size * self.memory_vector_dim]),
            time=tf.TensorShape([]),
        )

    @property
    def output_size(self) -> int | None:
        return self.output_dim

    def build(self, inputs_shape: Any) -> None:
        if self.output_dim is None:
            self.output_dim = tf.TensorShape(inputs_shape).as_list()[1]
            if self.output_dim is None:
                raise ValueError(f"Expected inputs.shape[-1] to be known, saw shape: {inputs_shape}")
        controlled, read = self.controller.output_size, self.memory_vector_dim * self.read_head_num
        self._params = self._dense("parameters", controlled, self.total_parameter_num)
        self._output = self._dense("output", controlled + read, self.output_dim)
        self._first_reads = [
            self._start(f"initial_read_vector_{i}", self.memory_vector_dim) for i in range(self.read_head_num)
        ]
        self._first_weights = [
            self._start(f"initial_address_weights_{i}", self.memory_size) for i in range(self.num_heads)
        ]
        self._M = self.add_weight(
            "memory",
            [self.memory_size, self.memory_vector_dim],
            initializer=tf.constant_initializer(1e-6, dtype=self.dtype),
        )
        self.built = True

    def _dense(self, name: str, rows: int, columns: int) -> tuple[Any, Any]:
        spread = tf.truncated_normal_initializer(stddev=1.0 / math.sqrt(rows), dtype=tf.float32)
        kernel = self.add_weight(f"{name}_kernel", [rows, columns], initializer=spread)
        zeros = tf.constant_initializer(0.0, dtype=self.dtype)
        return kernel, self.add_weight(f"{name}_bias", [columns], initializer=zeros)

    def _start(self, name: str, size: int) -> Any:
        return self.add_weight(name, [1, size], initializer=tf.keras.initializers.glorot_uniform())

    def _clipped(self, x: Tensor, dense: tuple[Any, Any]) -> Tensor:
        kernel, bias = dense
        sums = tf.nn.bias_add(tf.matmul(x, kernel), bias)
        return tf.clip_by_value(sums, -self.clip_value, self.clip_value)

    def call(self, x: Tensor, prev_state: NTMControllerState) -> tuple[Tensor, NTMControllerState]:
        first = tf.equal(prev_state.time, 0)
        rows = x.shape.as_list()[0] or tf.shape(x)[0]

        def at_first(values: list[Tensor], later: list[Tensor]) -> list[Tensor]:
            found = tf.cond(first, lambda: [_for_each(value, rows) for value in values], lambda: list(later))
            return [found] if len(values) == 1 else list(found)

        reads = at_first([tf.tanh(v[0]) for v in self._first_reads], prev_state.read_vector_list)
        controlled, controller_state = self.controller(
            tf.concat([x, *reads], axis=1), prev_state.controller_state
        )
        parameters = self._clipped(controlled, self._params)
        of_heads = self.num_parameters_per_head * self.num_heads
        heads = tf.split(parameters[:, :of_heads], self.num_heads, axis=1)
        changes = tf.split(parameters[:, of_heads:], 2 * self.write_head_num, axis=1)
        weights = at_first([tf.nn.softmax(w[0]) for w in self._first_weights], prev_state.w_list)
        (memory,) = at_first([self._M], [prev_state.M])
        weights = [self._address(head, memory, weight) for head, weight in zip(heads, weights)]
        read, written = weights[: self.read_head_num], weights[self.read_head_num :]
        reads = [tf.reduce_sum(tf.expand_dims(w, 2) * memory, axis=1) for w in read]
        for weight, erase, add in zip(written, changes[::2], changes[1::2]):
            column = tf.expand_dims(weight, 2)
            kept = 1 - tf.matmul(column, tf.expand_dims(tf.sigmoid(erase), 1))
            memory = memory * kept + tf.matmul(column, tf.expand_dims(tf.tanh(add), 1))
        output = self._clipped(tf.concat([controlled, *reads], axis=1), self._output)
        return output, NTMControllerState(
            controller_state=controller_state,
            read_vector_list=reads,
            w_list=weights,
            M=memory,
            time=prev_state.time + 1,
        )

    def _address(self, head: Tensor, memory: Tensor, before: Tensor) -> Tensor:
        """How much a head attends to each row: by content, then where it was, moved and sharpened."""
        size, shifts = self.memory_vector_dim, 2 * self.shift_range + 1
        key, strength = tf.tanh(head[:, :size]), tf.nn.softplus(head[:, size : size + 1])
        gate = tf.sigmoid(head[:, size + 1 : size + 2])
        shift = tf.nn.softmax(head[:, size + 2 : size + 2 + shifts])
        sharpness = tf.nn.softplus(head[:, -1:]) + 1
        products = tf.squeeze(tf.matmul(memory, tf.expand_dims(key, 2)), 2)
        lengths = tf.norm(memory, axis=2) * tf.norm(key, axis=1, keepdims=True)
        by_content = tf.exp(strength * (products / (lengths + 1e-8)))
        by_content /= tf.reduce_sum(by_content, axis=1, keepdims=True)
        weight = self._moved(gate * by_content + (1 - gate) * before, shift)
        sharp = tf.pow(weight, sharpness)
        return sharp / tf.reduce_sum(sharp, axis=1, keepdims=True)

    def _moved(self, weight: Tensor, shift: Tensor) -> Tensor:
        """A circular convolution of where a head is with how far it moves."""
        steps = range(-self.shift_range, self.shift_range + 1)
        # The first columns of `shift` are no move and moves ahead, the last ones moves back.
        parts = [shift[:, s : s + 1] if s >= 0 else shift[:, s:][:, :1] for s in steps]
        return tf.add_n([part * tf.roll(weight, s, axis=1) for part, s in zip(parts, steps)])

    def zero_state(self, batch_size: Any, dtype: Any) -> NTMControllerState:
        """The state before the first step.

        Args:
          batch_size: The number of examples.
          dtype: The type of the controller's state.

        Returns:
          An NTMControllerState.
        """
        return NTMControllerState(
            controller_state=self.controller.zero_state(batch_size, dtype),
            read_vector_list=[tf.zeros([batch_size, self.memory_vector_dim])] * self.read_head_num,
            w_list=[tf.zeros([batch_size, self.memory_size])] * self.num_heads,
            M=tf.zeros([batch_size, self.memory_size, self.memory_vector_dim]),
            time=0,
        )


def _for_each(value: Any, rows: Any) -> Tensor:
    """A value, once for each example of a batch."""
    value = tf.convert_to_tensor(value)
    tiled = tf.tile(tf.expand_dims(value, 0), [rows, *[1] * value.shape.ndims])
    return tiled
