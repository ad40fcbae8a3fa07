"""Generators: streams of random numbers with a state that can be saved, restored, moved on and split.

    generator = tf.random.experimental.Generator.from_seed(1234)
    numbers = generator.normal([2, 3])      # each run takes the next numbers

The state is a resource variable: it is initialized with the others. What changes it (`reset`, `skip`) is an
operation to run.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from tideflow.export import export
from tideflow.graph import dtypes
from tideflow.graph.convert import convert_to_tensor
from tideflow.graph.operation import Operation, Tensor
from tideflow.graph.scopes import control_dependencies, get_default_graph, name_scope
from tideflow.ops.arrays import creation, joining, shapes
from tideflow.ops.math import binary
from tideflow.ops.random import rng_state
from tideflow.variables.base import Variable
from tideflow.variables.trackable import Trackable

if TYPE_CHECKING:
    from tideflow.graph.typing import DTypeLike, TensorLike

_PHILOX = rng_state.PHILOX
_STATE_SIZES = {_PHILOX: rng_state.STATE_SIZE, 2: 2}  # 2 is ThreeFry: it has a state, but no kernels


def _state_size(algorithm: int) -> int:
    if algorithm not in _STATE_SIZES:
        raise ValueError(f"Unsupported algorithm id: {algorithm}")
    return _STATE_SIZES[algorithm]


def _signed(number: Any) -> Any:
    return number - 2**64 if isinstance(number, int) and number >= 2**63 else number


def _state_tensor(value: Any) -> Tensor:
    if isinstance(value, (list, tuple)):
        value = [_signed(item) for item in value]
    return convert_to_tensor(_signed(value), dtype=dtypes.int64)


def _shape_tensor(shape: Any) -> Tensor:
    empty = isinstance(shape, (tuple, list)) and not shape
    return convert_to_tensor(shape, dtype=dtypes.int64 if empty else None, name="shape")


@export("random.experimental.create_rng_state")
def create_rng_state(seed: int | Sequence[int], algorithm: int) -> np.ndarray:
    """Makes the state of a generator from a seed.

    Args:
      seed: An integer of any size, or a vector of 64-bit integers.
      algorithm: The number of the algorithm: 1 is Philox.

    Returns:
      The state as an array.
    """
    return state_of_size(_state_size(algorithm), seed)


def state_of_size(size: int, seed: int | Sequence[int]) -> np.ndarray:
    """A state of some size: the 64-bit digits of a seed, the lowest first."""
    if isinstance(seed, int):
        seed = [(seed >> 64 * place) & (2**64 - 1) for place in range(size)]
    state = np.asarray([_signed(int(part) if np.ndim(part) == 0 else part) for part in seed], np.int64)
    if state.ndim != 1:
        raise ValueError(f"seed should only have one dimension; got shape: {state.shape}")
    state = state[:size]
    # A short seed is the key, in the last places: as a counter it would only name a place in the same stream.
    return np.pad(state, [(size - len(state), 0)])


@export("random.experimental.Generator")
class Generator(Trackable):
    """A random number generator whose state is a variable.

    Args:
      copy_from: A generator to copy.
      state: The state to start at.
      alg: The number of the algorithm: 1 is Philox.
    """

    def __init__(
        self, copy_from: Generator | None = None, state: TensorLike | None = None, alg: int | None = None
    ):
        if copy_from is not None:
            if state is not None or alg is not None:
                raise AssertionError("a generator is made of another one, or of state and alg")
            alg, initial = copy_from.algorithm, copy_from.state
        else:
            if state is None or alg is None:
                raise AssertionError("a generator is made of another one, or of state and alg")
            initial = _state_tensor(state)
            initial.shape.assert_is_compatible_with([_state_size(alg)])
        self._alg = alg
        self._state = Variable(initial, dtype=dtypes.int64, trainable=False, use_resource=True)

    @classmethod
    def from_state(cls, state: TensorLike, alg: int) -> Generator:
        """Makes a generator from a state.

        Args:
          state: The state.
          alg: The number of the algorithm.

        Returns:
          The generator.
        """
        return cls(alg=alg, state=state)

    @classmethod
    def from_seed(cls, seed: int | Sequence[int], alg: int | None = None) -> Generator:
        """Makes a generator from a seed.

        Args:
          seed: An integer of any size, or a vector of 64-bit integers.
          alg: The number of the algorithm; Philox if None.

        Returns:
          The generator.
        """
        alg = _PHILOX if alg is None else alg
        return cls(state=create_rng_state(seed, alg), alg=alg)

    @classmethod
    def from_non_deterministic_state(cls, alg: int | None = None) -> Generator:
        """Makes a generator with a random state.

        Args:
          alg: The number of the algorithm; Philox if None.

        Returns:
          The generator.
        """
        alg = _PHILOX if alg is None else alg
        return cls(state=rng_state.non_deterministic_ints_op([_state_size(alg)], dtype=dtypes.int64), alg=alg)

    @classmethod
    def from_key_counter(cls, key: TensorLike, counter: TensorLike, alg: int) -> Generator:
        """Makes a generator from a key and a counter.

        Args:
          key: The key.
          counter: The counter: two integers, the lower half first.
          alg: The number of the algorithm.

        Returns:
          The generator.
        """
        return cls(state=_key_and_counter(key, counter, alg), alg=alg)

    @property
    def _checkpoint_dependencies(self) -> list[tuple[str, Variable]]:
        return [("_state_var", self._state)]

    @property
    def state(self) -> Variable:
        """The variable with the state."""
        return self._state

    @property
    def algorithm(self) -> int:
        """The number of the algorithm: 1 is Philox."""
        return self._alg

    @property
    def key(self) -> Tensor:
        """The key, which does not change when the counter advances."""
        return self._state[-1]

    def reset(self, state: TensorLike) -> Tensor:
        """Adds an operation that sets the state.

        Args:
          state: The state.

        Returns:
          The operation's output.
        """
        state = _state_tensor(state)
        state.shape.assert_is_compatible_with([_state_size(self._alg)])
        return self._state.assign(state)

    def reset_from_seed(self, seed: int | Sequence[int]) -> Tensor:
        """Adds an operation that sets the state to that of a seed.

        Args:
          seed: The seed.

        Returns:
          The operation's output.
        """
        return self._state.assign(create_rng_state(seed, self._alg))

    def reset_from_key_counter(self, key: TensorLike, counter: TensorLike) -> Tensor:
        """Adds an operation that sets the key and the counter.

        Args:
          key: The key.
          counter: The counter.

        Returns:
          The operation's output.
        """
        return self._state.assign(_key_and_counter(key, counter, self._alg))

    def skip(self, delta: TensorLike) -> Operation:
        """Adds an operation that advances the state as if numbers had been drawn.

        Args:
          delta: The number of numbers.

        Returns:
          The operation.
        """
        return rng_state.skip_op(self._state.handle, self._alg, delta)

    def normal(
        self,
        shape: TensorLike,
        mean: TensorLike = 0.0,
        stddev: TensorLike = 1.0,
        dtype: DTypeLike = dtypes.float32,
        name: str | None = None,
    ) -> Tensor:
        """Draws normally distributed numbers.

        Args:
          shape: The shape of the result.
          mean: The mean.
          stddev: The standard deviation.
          dtype: The type, a floating-point type.
          name: The name of the operation.

        Returns:
          A tensor.
        """
        return self._scaled(rng_state.normal_op, "stateful_normal", shape, mean, stddev, dtype, name)

    def truncated_normal(
        self,
        shape: TensorLike,
        mean: TensorLike = 0.0,
        stddev: TensorLike = 1.0,
        dtype: DTypeLike = dtypes.float32,
        name: str | None = None,
    ) -> Tensor:
        """Draws normally distributed numbers within two standard deviations of the mean.

        Args:
          shape: The shape of the result.
          mean: The mean.
          stddev: The standard deviation.
          dtype: The type, a floating-point type.
          name: The name of the operation.

        Returns:
          A tensor.
        """
        op = rng_state.truncated_normal_op
        return self._scaled(op, "truncated_normal", shape, mean, stddev, dtype, name)

    def _scaled(
        self, op: Any, default_name: str, shape: Any, mean: Any, stddev: Any, dtype: Any, name: str | None
    ) -> Tensor:
        with name_scope(name, default_name, [shape, mean, stddev]) as name:
            shape = _shape_tensor(shape)
            mean = convert_to_tensor(mean, dtype=dtype, name="mean")
            stddev = convert_to_tensor(stddev, dtype=dtype, name="stddev")
            numbers = op(self._state.handle, self._alg, shape, dtype=dtype)
            return binary.add(numbers * stddev, mean, name=name)

    def uniform(
        self,
        shape: TensorLike,
        minval: TensorLike = 0,
        maxval: TensorLike | None = None,
        dtype: DTypeLike = dtypes.float32,
        name: str | None = None,
    ) -> Tensor:
        """Draws uniformly distributed numbers in [minval, maxval).

        Args:
          shape: The shape of the result.
          minval: The least number.
          maxval: The upper bound, needed for integers; 1 if None.
          dtype: The type.
          name: The name of the operation.

        Returns:
          A tensor.
        """
        dtype = dtypes.as_dtype(dtype)
        if maxval is None and dtype.is_integer:
            raise ValueError(f"Must specify maxval for integer dtype {dtype!r}")
        with name_scope(name, "stateful_uniform", [shape, minval, maxval]) as name:
            shape = _shape_tensor(shape)
            low = convert_to_tensor(minval, dtype=dtype, name="min")
            high = convert_to_tensor(1 if maxval is None else maxval, dtype=dtype, name="max")
            handle = self._state.handle
            if dtype.is_integer:
                op = rng_state.uniform_int_op
                return op(handle, self._alg, shape, low, high, dtype=dtype, name=name)
            numbers = rng_state.uniform_op(handle, self._alg, shape, dtype=dtype)
            return binary.add(numbers * (high - low), low, name=name)

    def uniform_full_int(
        self, shape: TensorLike, dtype: DTypeLike = dtypes.uint64, name: str | None = None
    ) -> Tensor:
        """Draws uniformly distributed integers of the whole range of a type.

        Args:
          shape: The shape of the result.
          dtype: The type.
          name: The name of the operation.

        Returns:
          A tensor.
        """
        with name_scope(name, "stateful_uniform_full_int", [shape]) as name:
            return rng_state.uniform_full_int_op(
                self._state.handle, self._alg, _shape_tensor(shape), dtype=dtypes.as_dtype(dtype), name=name
            )

    def binomial(
        self,
        shape: TensorLike,
        counts: TensorLike,
        probs: TensorLike,
        dtype: DTypeLike = dtypes.int32,
        name: str | None = None,
    ) -> Tensor:
        """Draws the number of successes in independent trials.

        Args:
          shape: The shape of the result.
          counts: The numbers of trials.
          probs: The probabilities of success.
          dtype: The type.
          name: The name of the operation.

        Returns:
          A tensor.
        """
        with name_scope(name, "binomial", [shape, counts, probs]) as name:
            counts = convert_to_tensor(counts, name="counts")
            probs = convert_to_tensor(probs, name="probs")
            return rng_state.binomial_op(
                self._state.handle,
                self._alg,
                _shape_tensor(shape),
                counts,
                probs,
                dtype=dtypes.as_dtype(dtype),
                name=name,
            )

    def make_seeds(self, count: int = 1) -> Tensor:
        """Draws seeds for stateless random operations.

        Args:
          count: The number of seeds.

        Returns:
          An int64 tensor of shape [2, count].
        """
        keys = self._keys(count)
        return joining.stack([keys, creation.zeros_like(keys)])

    def split(self, count: int = 1) -> list[Generator]:
        """Makes independent generators. Their keys are drawn from this one when they are initialized.

        Args:
          count: The number of generators.

        Returns:
          A list of generators.
        """
        counter = [0] * (_state_size(self._alg) - 1)
        with control_dependencies([self._state.initializer]):
            keys = joining.unstack(self._keys(count), count)
        return [Generator(state=joining.stack([*counter, key]), alg=self._alg) for key in keys]

    def _keys(self, count: int) -> Tensor:
        return self.uniform_full_int([count], dtypes.int64)


def _key_and_counter(key: Any, counter: Any, algorithm: int) -> Tensor:
    counter, key = _state_tensor(counter), _state_tensor(key)
    counter.shape.assert_is_compatible_with([_state_size(algorithm) - 1])
    key.shape.assert_is_compatible_with([])
    return joining.concat([counter, shapes.reshape(key, [1])], 0)


_global: Generator | None = None


@export("random.experimental.get_global_generator")
def get_global_generator() -> Generator:
    """Gets the global generator.

    Returns:
      The generator that `set_global_generator` has set, or one of the default graph with a random state.
    """
    global _global
    if _global is None or _global.state.graph is not get_default_graph():
        _global = Generator.from_non_deterministic_state()
    return _global


@export("random.experimental.set_global_generator")
def set_global_generator(generator: Generator) -> None:
    """Sets the global generator.

    Args:
      generator: The generator.
    """
    global _global
    _global = generator
