"""Attention mechanisms: how well each place of a memory suits a query.

A mechanism is made once over a memory [batch, time, depth] (what an encoder read, mostly), and is called once
a step with a query [batch, depth] and its own state; it answers with alignments [batch, time].
"""

from __future__ import annotations

import functools
import math
from collections.abc import Callable
from typing import TYPE_CHECKING, Any

import numpy as np

from tideflow.contrib.seq2seq.monotonic import monotonic_attention
from tideflow.contrib.seq2seq.sizes import size_of
from tideflow.export import export
from tideflow.graph import dtypes, nest
from tideflow.graph.convert import convert_to_tensor
from tideflow.graph.operation import Tensor
from tideflow.graph.scopes import control_dependencies, name_scope
from tideflow.layers.core import Dense
from tideflow.layers.scoped import Layer
from tideflow.ops.arrays import creation, indexing, joining, shapes
from tideflow.ops.linalg import matmul
from tideflow.ops.math import casting, checks, reductions, unary
from tideflow.ops.nn import softmax
from tideflow.ops.random import distributions
from tideflow.rnn.cells import batch_of_zeros
from tideflow.variables import initializers
from tideflow.variables.variable_scope import get_variable, variable_scope

if TYPE_CHECKING:
    from tideflow.graph.typing import DTypeLike, TensorLike


@export("contrib.seq2seq.AttentionMechanism")
class AttentionMechanism:
    """The base of attention mechanisms."""

    @property
    def alignments_size(self) -> Any:
        """How many places an alignment is over."""
        raise NotImplementedError

    @property
    def state_size(self) -> Any:
        """The size of what a call hands to the next."""
        raise NotImplementedError


class _BaseAttentionMechanism(AttentionMechanism):
    """A mechanism over a masked memory: values to sum, and keys that are scored."""

    def __init__(
        self,
        query_layer: Layer | None,
        memory: Any,
        probability_fn: Callable,
        memory_sequence_length: Any = None,
        memory_layer: Layer | None = None,
        check_inner_dims_defined: bool = True,
        score_mask_value: Any = None,
        custom_key_value_fn: Callable | None = None,
        name: str | None = None,
    ):
        _check_layer("query_layer", query_layer)
        _check_layer("memory_layer", memory_layer)
        self._query_layer = query_layer
        self._memory_layer = memory_layer
        self.dtype = memory_layer.dtype
        if not callable(probability_fn):
            raise TypeError(f"probability_fn must be callable, saw type: {type(probability_fn).__name__}")
        if score_mask_value is None:
            score_mask_value = dtypes.as_dtype(self.dtype).as_numpy_dtype(-np.inf)
        self._probability_fn = lambda score, previous: probability_fn(
            _maybe_mask_score(score, memory_sequence_length, score_mask_value), previous
        )
        with name_scope(name, "BaseAttentionMechanismInit", nest.flatten(memory)):
            self._values = _prepare_memory(memory, memory_sequence_length, check_inner_dims_defined)
            self._keys = memory_layer(self._values) if memory_layer else self._values
            if custom_key_value_fn is not None:
                self._keys, self._values = custom_key_value_fn(self._keys, self._values)
            self._batch_size = size_of(self._keys, 0)
            self._alignments_size = size_of(self._keys, 1)

    @property
    def memory_layer(self) -> Layer | None:
        """Makes keys of the memory."""
        return self._memory_layer

    @property
    def query_layer(self) -> Layer | None:
        """Makes of a query what is compared with keys."""
        return self._query_layer

    @property
    def values(self) -> Any:
        """The memory, with zeros past the end of each sequence."""
        return self._values

    @property
    def keys(self) -> Tensor:
        """What queries are compared with."""
        return self._keys

    @property
    def batch_size(self) -> Any:
        return self._batch_size

    @property
    def alignments_size(self) -> Any:
        return self._alignments_size

    @property
    def state_size(self) -> Any:
        return self._alignments_size

    def initial_alignments(self, batch_size: TensorLike, dtype: DTypeLike) -> Tensor:
        """The alignments before the first step.

        Args:
          batch_size: The batch size.
          dtype: The type of the elements.

        Returns:
          A tensor of zeros.
        """
        return batch_of_zeros(self._alignments_size, batch_size, dtype)

    def initial_state(self, batch_size: TensorLike, dtype: DTypeLike) -> Tensor:
        """The state before the first step: the initial alignments.

        Args:
          batch_size: The batch size.
          dtype: The type of the elements.

        Returns:
          A tensor.
        """
        return self.initial_alignments(batch_size, dtype)


def _check_layer(role: str, layer: Any) -> None:
    if layer is not None and not isinstance(layer, Layer):
        raise TypeError(f"{role} is not a Layer: {type(layer).__name__}")


def _prepare_memory(
    memory: Any, memory_sequence_length: Any = None, check_inner_dims_defined: bool = True
) -> Any:
    """The memory with zeros past the end of each sequence."""
    memory = nest.map_structure(lambda m: convert_to_tensor(m, name="memory"), memory)
    if memory_sequence_length is not None:
        memory_sequence_length = convert_to_tensor(memory_sequence_length, name="memory_sequence_length")
    parts = nest.flatten(memory)
    if check_inner_dims_defined:
        for part in parts:
            if not part.shape[2:].is_fully_defined():
                raise ValueError(
                    f"Expected memory {part.name} to have fully defined inner dims, but saw shape: "
                    f"{part.shape}"
                )
    if memory_sequence_length is None:
        return memory
    longest = shapes.shape(parts[0])[1]
    mask = creation.sequence_mask(memory_sequence_length, maxlen=longest, dtype=parts[0].dtype)
    return nest.map_structure(lambda part: _masked(part, mask), memory)


def _masked(part: Tensor, mask: Tensor) -> Tensor:
    rank = part.shape.ndims if part.shape.ndims is not None else shapes.rank(part)
    inner = creation.ones(rank - 2, dtype=dtypes.int32)
    return part * shapes.reshape(mask, joining.concat((shapes.shape(mask), inner), 0))


def _maybe_mask_score(score: Tensor, memory_sequence_length: Any, score_mask_value: Any) -> Tensor:
    """The scores, with `score_mask_value` past the end of each sequence."""
    if memory_sequence_length is None:
        return score
    message = "All values in memory_sequence_length must be greater than zero."
    with control_dependencies([checks.assert_positive(memory_sequence_length, message=message)]):
        inside = creation.sequence_mask(memory_sequence_length, maxlen=shapes.shape(score)[1])
    return indexing.where(inside, score, score_mask_value * creation.ones_like(score))


# -------------------------------------------------------------------------------------------------- scores


def _luong_score(query: Tensor, keys: Tensor, scale: Any) -> Tensor:
    """The product of the query with each key (Luong et al., 2015)."""
    depth, key_units = query.shape.tuple[-1], keys.shape.tuple[-1]
    if depth is None or depth != key_units:
        raise ValueError(
            "Incompatible or unknown inner dimensions between query and keys.  "
            f"Query ({query}) has units: {depth}.  Keys ({keys}) have units: {key_units}.  "
            f"Perhaps you need to set num_units to the keys' dimension ({key_units})?"
        )
    products = matmul.matmul(shapes.expand_dims(query, 1), keys, transpose_b=True)
    score = shapes.squeeze(products, [1])
    return score if scale is None else scale * score


def _bahdanau_score(
    processed_query: Tensor, keys: Tensor, attention_v: Any, attention_g: Any = None, attention_b: Any = None
) -> Tensor:
    """v . tanh(key + query) of each key (Bahdanau et al., 2014); with g and b, v of length g and a bias."""
    query = shapes.expand_dims(processed_query, 1)
    if attention_g is None or attention_b is None:
        return reductions.reduce_sum(attention_v * unary.tanh(keys + query), [2])
    scaled_v = attention_g * attention_v
    normed_v = scaled_v * unary.rsqrt(reductions.reduce_sum(unary.square(attention_v)))
    return reductions.reduce_sum(normed_v * unary.tanh(keys + query + attention_b), [2])


def _luong_scale(scale: bool, query: Tensor) -> Any:
    if not scale:
        return None
    return get_variable("attention_g", dtype=query.dtype, initializer=initializers.Ones(), shape=())


def _bahdanau_variables(units: int, normalize: bool, query: Tensor) -> list[Any]:
    """v, and where it is normalized, its length and the bias."""
    made = [get_variable("attention_v", [units], dtype=query.dtype)]
    if normalize:
        length = initializers.Constant(math.sqrt(1.0 / units))
        made.append(get_variable("attention_g", dtype=query.dtype, initializer=length, shape=()))
        made.append(get_variable("attention_b", [units], dtype=query.dtype, initializer=initializers.Zeros()))
    return made


def _units_layer(units: int, name: str, dtype: Any) -> Dense:
    return Dense(units, name=name, use_bias=False, dtype=dtype)


# ------------------------------------------------------------------------------------------- mechanisms


@export("contrib.seq2seq.LuongAttention")
class LuongAttention(_BaseAttentionMechanism):
    """Attention by products (Luong et al., 2015); with `scale`, times a weight.

    Args:
      num_units: The depth of the query, and of the keys that memory is turned into.
      memory: What is attended to, a tensor [batch, time, …].
      memory_sequence_length: The length of each row of memory; what lies behind it is not attended to. All of
        it if None.
      scale: Whether scores are multiplied by a weight.
      probability_fn: The function from scores to probabilities; softmax if None.
      score_mask_value: The score of what lies behind a row's end; minus infinity if None.
      dtype: The type of the variables; that of the first input if None.
      custom_key_value_fn: A function from keys and values to those that are used; None to use them as they
        are.
      name: The name scope of the operations.
    """

    def __init__(
        self,
        num_units: int,
        memory: TensorLike,
        memory_sequence_length: TensorLike | None = None,
        scale: bool = False,
        probability_fn: Callable | None = None,
        score_mask_value: TensorLike | None = None,
        dtype: DTypeLike | None = None,
        custom_key_value_fn: Callable | None = None,
        name: str | None = "LuongAttention",
    ):
        probability_fn = softmax.softmax if probability_fn is None else probability_fn
        dtype = dtypes.float32 if dtype is None else dtype
        super().__init__(
            query_layer=None,
            memory_layer=_units_layer(num_units, "memory_layer", dtype),
            memory=memory,
            probability_fn=lambda score, _: probability_fn(score),
            memory_sequence_length=memory_sequence_length,
            score_mask_value=score_mask_value,
            custom_key_value_fn=custom_key_value_fn,
            name=name,
        )
        self._num_units = num_units
        self._scale = scale
        self._name = name

    def __call__(self, query: Tensor, state: Tensor) -> tuple[Tensor, Tensor]:
        """The alignments of a query, and the next state."""
        with variable_scope(None, "luong_attention", [query]):
            score = _luong_score(query, self._keys, _luong_scale(self._scale, query))
        alignments = self._probability_fn(score, state)
        return alignments, alignments


@export("contrib.seq2seq.BahdanauAttention")
class BahdanauAttention(_BaseAttentionMechanism):
    """Attention by a small network (Bahdanau et al., 2014); with `normalize`, weight-normalized.

    Args:
      num_units: The depth of the query, and of the keys that memory is turned into.
      memory: What is attended to, a tensor [batch, time, …].
      memory_sequence_length: The length of each row of memory; what lies behind it is not attended to. All of
        it if None.
      normalize: Whether the energy is weight-normalized.
      probability_fn: The function from scores to probabilities; softmax if None.
      score_mask_value: The score of what lies behind a row's end; minus infinity if None.
      dtype: The type of the variables; that of the first input if None.
      custom_key_value_fn: A function from keys and values to those that are used; None to use them as they
        are.
      name: The name scope of the operations.
    """

    def __init__(
        self,
        num_units: int,
        memory: TensorLike,
        memory_sequence_length: TensorLike | None = None,
        normalize: bool = False,
        probability_fn: Callable | None = None,
        score_mask_value: TensorLike | None = None,
        dtype: DTypeLike | None = None,
        custom_key_value_fn: Callable | None = None,
        name: str | None = "BahdanauAttention",
    ):
        probability_fn = softmax.softmax if probability_fn is None else probability_fn
        dtype = dtypes.float32 if dtype is None else dtype
        super().__init__(
            query_layer=_units_layer(num_units, "query_layer", dtype),
            memory_layer=_units_layer(num_units, "memory_layer", dtype),
            memory=memory,
            probability_fn=lambda score, _: probability_fn(score),
            custom_key_value_fn=custom_key_value_fn,
            memory_sequence_length=memory_sequence_length,
            score_mask_value=score_mask_value,
            name=name,
        )
        self._num_units = num_units
        self._normalize = normalize
        self._name = name

    def __call__(self, query: Tensor, state: Tensor) -> tuple[Tensor, Tensor]:
        """The alignments of a query, and the next state."""
        with variable_scope(None, "bahdanau_attention", [query]):
            processed = self.query_layer(query) if self.query_layer else query
            weights = _bahdanau_variables(self._num_units, self._normalize, query)
            score = _bahdanau_score(processed, self._keys, *weights)
        alignments = self._probability_fn(score, state)
        return alignments, alignments


# -------------------------------------------------------------------------------------------------- monotonic


def _monotonic_probability_fn(
    score: Tensor, previous_alignments: Tensor, sigmoid_noise: float, mode: str, seed: int | None = None
) -> Tensor:
    """Alignments that only go forward, from scores. The noise teaches probabilities to be near 0 or 1."""
    if sigmoid_noise > 0:
        noise = distributions.random_normal(shapes.shape(score), dtype=score.dtype, seed=seed)
        score += sigmoid_noise * noise
    p_choose_i = casting.cast(score > 0, score.dtype) if mode == "hard" else unary.sigmoid(score)
    return monotonic_attention(p_choose_i, previous_alignments, mode)


class _BaseMonotonicAttentionMechanism(_BaseAttentionMechanism):
    """A mechanism whose attention begins at the first place and never goes back."""

    def initial_alignments(self, batch_size: TensorLike, dtype: DTypeLike) -> Tensor:
        """All at the first place.

        Args:
          batch_size: The batch size.
          dtype: The type of the elements.

        Returns:
          A tensor.
        """
        first = creation.zeros((batch_size,), dtype=dtypes.int32)
        return creation.one_hot(first, self._alignments_size, dtype=dtype)

    def _biased(self, score: Tensor, query: Tensor) -> Tensor:
        bias = get_variable("attention_score_bias", dtype=query.dtype, initializer=self._score_bias_init)
        return score + bias


@export("contrib.seq2seq.BahdanauMonotonicAttention")
class BahdanauMonotonicAttention(_BaseMonotonicAttentionMechanism):
    """Monotonic attention (Raffel et al., 2017) with Bahdanau's scores.

    Args:
      num_units: The depth of the query, and of the keys that memory is turned into.
      memory: What is attended to, a tensor [batch, time, …].
      memory_sequence_length: The length of each row of memory; what lies behind it is not attended to. All of
        it if None.
      normalize: Whether the energy is weight-normalized.
      score_mask_value: The score of what lies behind a row's end; minus infinity if None.
      sigmoid_noise: The standard deviation of noise that is added to scores.
      sigmoid_noise_seed: The seed of the noise.
      score_bias_init: The initial value of a bias of the scores.
      mode: How the attention is computed: `"parallel"`, `"recursive"` or `"hard"`; see `monotonic_attention`.
      dtype: The type of the variables; that of the first input if None.
      name: The name scope of the operations.
    """

    def __init__(
        self,
        num_units: int,
        memory: TensorLike,
        memory_sequence_length: TensorLike | None = None,
        normalize: bool = False,
        score_mask_value: TensorLike | None = None,
        sigmoid_noise: float = 0.0,
        sigmoid_noise_seed: int | None = None,
        score_bias_init: float = 0.0,
        mode: str = "parallel",
        dtype: DTypeLike | None = None,
        name: str | None = "BahdanauMonotonicAttention",
    ):
        dtype = dtypes.float32 if dtype is None else dtype
        super().__init__(
            query_layer=_units_layer(num_units, "query_layer", dtype),
            memory_layer=_units_layer(num_units, "memory_layer", dtype),
            memory=memory,
            probability_fn=functools.partial(
                _monotonic_probability_fn, sigmoid_noise=sigmoid_noise, mode=mode, seed=sigmoid_noise_seed
            ),
            memory_sequence_length=memory_sequence_length,
            score_mask_value=score_mask_value,
            name=name,
        )
        self._num_units = num_units
        self._normalize = normalize
        self._name = name
        self._score_bias_init = score_bias_init

    def __call__(self, query: Tensor, state: Tensor) -> tuple[Tensor, Tensor]:
        """The alignments of a query, and the next state."""
        with variable_scope(None, "bahdanau_monotonic_attention", [query]):
            processed = self.query_layer(query) if self.query_layer else query
            weights = _bahdanau_variables(self._num_units, self._normalize, query)
            score = self._biased(_bahdanau_score(processed, self._keys, *weights), query)
        alignments = self._probability_fn(score, state)
        return alignments, alignments


@export("contrib.seq2seq.LuongMonotonicAttention")
class LuongMonotonicAttention(_BaseMonotonicAttentionMechanism):
    """Monotonic attention (Raffel et al., 2017) with Luong's scores.

    Args:
      num_units: The depth of the query, and of the keys that memory is turned into.
      memory: What is attended to, a tensor [batch, time, …].
      memory_sequence_length: The length of each row of memory; what lies behind it is not attended to. All of
        it if None.
      scale: Whether scores are multiplied by a weight.
      score_mask_value: The score of what lies behind a row's end; minus infinity if None.
      sigmoid_noise: The standard deviation of noise that is added to scores.
      sigmoid_noise_seed: The seed of the noise.
      score_bias_init: The initial value of a bias of the scores.
      mode: How the attention is computed: `"parallel"`, `"recursive"` or `"hard"`; see `monotonic_attention`.
      dtype: The type of the variables; that of the first input if None.
      name: The name scope of the operations.
    """

    def __init__(
        self,
        num_units: int,
        memory: TensorLike,
        memory_sequence_length: TensorLike | None = None,
        scale: bool = False,
        score_mask_value: TensorLike | None = None,
        sigmoid_noise: float = 0.0,
        sigmoid_noise_seed: int | None = None,
        score_bias_init: float = 0.0,
        mode: str = "parallel",
        dtype: DTypeLike | None = None,
        name: str | None = "LuongMonotonicAttention",
    ):
        dtype = dtypes.float32 if dtype is None else dtype
        super().__init__(
            query_layer=None,
            memory_layer=_units_layer(num_units, "memory_layer", dtype),
            memory=memory,
            probability_fn=functools.partial(
                _monotonic_probability_fn, sigmoid_noise=sigmoid_noise, mode=mode, seed=sigmoid_noise_seed
            ),
            memory_sequence_length=memory_sequence_length,
            score_mask_value=score_mask_value,
            name=name,
        )
        self._num_units = num_units
        self._scale = scale
        self._score_bias_init = score_bias_init
        self._name = name

    def __call__(self, query: Tensor, state: Tensor) -> tuple[Tensor, Tensor]:
        """The alignments of a query, and the next state."""
        with variable_scope(None, "luong_monotonic_attention", [query]):
            score = _luong_score(query, self._keys, _luong_scale(self._scale, query))
            score = self._biased(score, query)
        alignments = self._probability_fn(score, state)
        return alignments, alignments
