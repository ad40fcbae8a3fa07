"""Attention mechanisms that are layers of Keras, and can be made again from their configuration.

A call with a memory sets the mechanism up; every later one, with a query and a state, gives alignments.
"""

from __future__ import annotations

import functools
import math
from collections.abc import Callable, Mapping
from typing import Any

import numpy as np

import tideflow as tf
from tideflow.contrib.seq2seq.mechanisms import (
    AttentionMechanism,
    _bahdanau_score,
    _luong_score,
    _monotonic_probability_fn,
    _prepare_memory,
)
from tideflow.contrib.seq2seq.monotonic import hardmax
from tideflow.contrib.seq2seq.sizes import size_of
from tideflow.graph import nest
from tideflow.rnn.cells import batch_of_zeros

Layer = tf.keras.layers.Layer
_PROBABILITIES: dict[str, Callable] = {"softmax": tf.nn.softmax, "hardmax": hardmax}


class _BaseAttentionMechanismV2(AttentionMechanism, Layer):
    """A mechanism over a masked memory, as a layer.

    Args:
      memory: What is attended to, a tensor [batch, time, depth]; None if a call will give it.
      probability_fn: A function of scores and the last state.
      query_layer: Makes of a query what is compared with keys.
      memory_layer: Makes keys of the memory.
      memory_sequence_length: The length of each row of memory.
      kwargs: Arguments of the layer.
    """

    def __init__(
        self,
        memory: Any,
        probability_fn: Callable,
        query_layer: Layer | None = None,
        memory_layer: Layer | None = None,
        memory_sequence_length: Any = None,
        **kwargs: Any,
    ):
        for role, layer in (("query_layer", query_layer), ("memory_layer", memory_layer)):
            if layer is not None and not isinstance(layer, Layer):
                raise TypeError(f"{role} is not a Layer: {type(layer).__name__}")
        if memory_layer is not None:
            kwargs.setdefault("dtype", memory_layer.dtype)
        super().__init__(**kwargs)
        if not callable(probability_fn):
            raise TypeError(f"probability_fn must be callable, saw type: {type(probability_fn).__name__}")
        self.query_layer = query_layer
        self.memory_layer = memory_layer
        self.probability_fn = probability_fn
        self.keys: Any = None
        self.values: Any = None
        self.batch_size: Any = None
        self._memory_initialized = False
        self.supports_masking = True
        self.score_mask_value = tf.as_dtype(self.dtype).as_numpy_dtype(-np.inf)
        if memory is not None:
            given = memory if memory_sequence_length is None else [memory, memory_sequence_length]
            self.values = super().__call__(given, setup_memory=True)

    def build(self, input_shape: Any) -> None:
        """Builds the layer of the memory first, and that of queries when the memory is known."""
        layer = self.query_layer if self._memory_initialized else self.memory_layer
        if layer is not None and not layer.built:
            layer.build(input_shape[0] if isinstance(input_shape, list) else input_shape)

    def __call__(self, inputs: Any, **kwargs: Any) -> Any:
        """The alignments of a query, and the next state.

        Args:
          inputs: A query and a state; the memory may follow.
          kwargs: Arguments of `call`.

        Returns:
          Both, tensors [batch, time].
        """
        if self._memory_initialized:
            if len(inputs) not in (2, 3):
                raise ValueError(f"Expect the inputs to have 2 or 3 tensors, got {len(inputs)}")
            inputs = [*inputs, self.values][:3]  # with the memory, models know that the layer takes it
        return super().__call__(inputs, **kwargs)

    def call(self, inputs: Any, mask: Any = None, setup_memory: bool = False, **kwargs: Any) -> Any:
        """Sets the memory up, or answers a query."""
        if setup_memory:
            given = inputs if isinstance(inputs, list) else [inputs]
            if len(given) not in (1, 2):
                raise ValueError(f"Expect inputs to have 1 or 2 tensors, got {len(given)}")
            self._set_up(given[0], given[1] if len(given) == 2 else None, mask)
            self.built = False  # the layer of queries is built with the first of them
            return self.values
        if not self._memory_initialized:
            raise ValueError("Cannot query the attention before the setup of memory")
        if len(inputs) not in (2, 3):
            raise ValueError(
                "Expect the inputs to have query, state, and optional processed memory, "
                f"got {len(inputs)} items"
            )
        return self._calculate_attention(inputs[0], inputs[1])

    def _set_up(self, memory: Any, lengths: Any, mask: Any) -> None:
        if self._memory_initialized:
            raise ValueError("The memory for the attention has already been setup.")
        if lengths is not None and mask is not None:
            raise ValueError(
                "memory_sequence_length and memory_mask cannot be used at same time for attention."
            )
        with tf.name_scope(self.name, "BaseAttentionMechanismInit", nest.flatten(memory)):
            self.values = _prepare_memory(memory, lengths)
            if mask is not None:
                self.values *= tf.expand_dims(tf.cast(mask, self.values.dtype), -1)
            self.keys = self.values if self.memory_layer is None else self.memory_layer(self.values)
            self.batch_size = size_of(self.keys, 0)
            self._alignments_size = size_of(self.keys, 1)
        inner = self.probability_fn
        if mask is not None:
            self.probability_fn = lambda score, last: inner(self._masked(score, mask), last)
        self._memory_initialized = True

    def _masked(self, score: tf.Tensor, mask: tf.Tensor) -> tf.Tensor:
        """The scores, with `score_mask_value` where the mask is false. Something must be left of each row."""
        has_some = tf.assert_positive(
            tf.reduce_sum(tf.cast(mask, tf.int32), axis=1),
            message="All values in memory_mask must be greater than zero.",
        )
        with tf.control_dependencies([has_some]):
            return tf.where(mask, score, self.score_mask_value * tf.ones_like(score))

    def _calculate_attention(self, query: tf.Tensor, state: tf.Tensor) -> tuple[tf.Tensor, tf.Tensor]:
        alignments = self.probability_fn(self._score(query), state)
        return alignments, alignments

    def _score(self, query: tf.Tensor) -> tf.Tensor:
        raise NotImplementedError("_score needs to be implemented by subclasses.")

    def compute_mask(self, inputs: Any, mask: Any = None) -> tuple[None, None]:
        """Alignments have none."""
        return None, None

    @property
    def alignments_size(self) -> Any:
        return self._alignments_size

    @property
    def state_size(self) -> Any:
        return self._alignments_size

    def initial_alignments(self, batch_size: Any, dtype: Any) -> tf.Tensor:
        """The alignments before the first step: zeros.

        Args:
          batch_size: The batch size.
          dtype: The type of the elements.

        Returns:
          A tensor.
        """
        return batch_of_zeros(self._alignments_size, batch_size, dtype)

    def initial_state(self, batch_size: Any, dtype: Any) -> tf.Tensor:
        """The state before the first step: the initial alignments.

        Args:
          batch_size: The batch size.
          dtype: The type of the elements.

        Returns:
          A tensor.
        """
        return self.initial_alignments(batch_size, dtype)

    _CONFIGURED: Mapping[str, str] = {}  # arguments, and the attributes that keep them

    def get_config(self) -> dict[str, Any]:
        """The arguments that make such a mechanism, with a memory to be given by a call."""
        config = {**super().get_config(), "memory": None}
        for role in ("query_layer", "memory_layer"):
            layer = getattr(self, role)
            if layer is not None:
                config[role] = {"class_name": type(layer).__name__, "config": layer.get_config()}
        return {**config, **{name: getattr(self, kept) for name, kept in self._CONFIGURED.items()}}

    @classmethod
    def from_config(cls, config: Mapping[str, Any], custom_objects: Any = None) -> Any:
        """The mechanism that `get_config` describes.

        Args:
          config: The configuration.
          custom_objects: Classes by name, for layers that Keras does not know.

        Returns:
          The mechanism.
        """
        config = dict(config)
        for role in ("query_layer", "memory_layer"):
            if config.get(role):
                config[role] = tf.keras.layers.deserialize(config[role], custom_objects=custom_objects)
        return cls(**config)


def _units_layer(given: Any, units: int, name: str, dtype: Any) -> Any:
    return given or tf.keras.layers.Dense(units, name=name, use_bias=False, dtype=dtype)


def _known_probability(name: str) -> Callable:
    if name not in _PROBABILITIES:
        raise ValueError(f"Invalid probability function: {name}, options are {list(_PROBABILITIES)}")
    return lambda score, _: _PROBABILITIES[name](score)


class _Luong(_BaseAttentionMechanismV2):
    """Scores that are the product of the query with each key; with `scale`, times a weight."""

    def __init__(self, units: int, memory: Any, lengths: Any, scale: bool, dtype: Any, **kwargs: Any):
        dtype = tf.float32 if dtype is None else dtype
        self.units, self.scale, self.attention_g = units, scale, None
        layer = _units_layer(kwargs.pop("memory_layer", None), units, "memory_layer", dtype)
        super().__init__(memory, memory_sequence_length=lengths, memory_layer=layer, dtype=dtype, **kwargs)

    def build(self, input_shape: Any) -> None:
        super().build(input_shape)
        if self.scale and self.attention_g is None:
            self.attention_g = self.add_weight("attention_g", initializer=tf.ones_initializer(), shape=())
        self._build_bias()
        self.built = True

    def _build_bias(self) -> None:
        """Adds what else a mechanism has."""

    def _score(self, query: tf.Tensor) -> tf.Tensor:
        return _luong_score(query, self.keys, self.attention_g)


class _Bahdanau(_BaseAttentionMechanismV2):
    """Scores by a small network of the query and each key; with `normalize`, weight-normalized."""

    def __init__(
        self,
        units: int,
        memory: Any,
        lengths: Any,
        normalize: bool,
        kernel_initializer: Any,
        dtype: Any,
        **kwargs: Any,
    ):
        dtype = tf.float32 if dtype is None else dtype
        self.units, self.normalize = units, normalize
        self.kernel_initializer = tf.keras.initializers.get(kernel_initializer)
        self.attention_v: Any = None
        self.attention_g: Any = None
        self.attention_b: Any = None
        query_layer, memory_layer = (
            _units_layer(kwargs.pop(role, None), units, role, dtype)
            for role in ("query_layer", "memory_layer")
        )
        super().__init__(
            memory,
            memory_sequence_length=lengths,
            query_layer=query_layer,
            memory_layer=memory_layer,
            dtype=dtype,
            **kwargs,
        )

    def build(self, input_shape: Any) -> None:
        super().build(input_shape)
        if self.attention_v is None:
            self.attention_v = self.add_weight(
                "attention_v", [self.units], dtype=self.dtype, initializer=self.kernel_initializer
            )
        self._build_bias()
        if self.normalize and self.attention_g is None:
            length = tf.constant_initializer(math.sqrt(1.0 / self.units))
            self.attention_g = self.add_weight("attention_g", initializer=length, shape=())
            zeros = tf.zeros_initializer()
            self.attention_b = self.add_weight("attention_b", shape=[self.units], initializer=zeros)
        self.built = True

    def _build_bias(self) -> None:
        """Adds what else a mechanism has."""

    def get_config(self) -> dict[str, Any]:
        """The arguments that make such a mechanism."""
        kernel = tf.keras.initializers.serialize(self.kernel_initializer)
        return {**super().get_config(), "kernel_initializer": kernel}

    def _score(self, query: tf.Tensor) -> tf.Tensor:
        processed = self.query_layer(query) if self.query_layer else query
        return _bahdanau_score(processed, self.keys, self.attention_v, self.attention_g, self.attention_b)


class LuongAttentionV2(_Luong):
    """Attention by products (Luong et al., 2015), as a layer.

    Args:
      units: The depth of the query, and of the keys.
      memory: What is attended to; None if a call gives it.
      memory_sequence_length: The length of each row of memory.
      scale: Whether scores are multiplied by a weight.
      probability_fn: `"softmax"` or `"hardmax"`.
      dtype: The type of the weights.
      name: The name of the layer.
      kwargs: Arguments of the layer, and `memory_layer`.
    """

    _CONFIGURED = {"units": "units", "scale": "scale", "probability_fn": "probability_fn_name"}

    def __init__(
        self,
        units: int,
        memory: Any,
        memory_sequence_length: Any = None,
        scale: bool = False,
        probability_fn: str = "softmax",
        dtype: Any = None,
        name: str = "LuongAttention",
        **kwargs: Any,
    ):
        self.probability_fn_name = probability_fn
        kwargs.update(name=name, probability_fn=_known_probability(probability_fn))
        super().__init__(units, memory, memory_sequence_length, scale, dtype, **kwargs)


class BahdanauAttentionV2(_Bahdanau):
    """Attention by a small network (Bahdanau et al., 2014), as a layer.

    Args:
      units: The depth of the query, and of the keys.
      memory: What is attended to; None if a call gives it.
      memory_sequence_length: The length of each row of memory.
      normalize: Whether the energy is weight-normalized.
      probability_fn: `"softmax"` or `"hardmax"`.
      kernel_initializer: The initializer of the network's vector.
      dtype: The type of the weights.
      name: The name of the layer.
      kwargs: Arguments of the layer, `query_layer` and `memory_layer`.
    """

    _CONFIGURED = {"units": "units", "normalize": "normalize", "probability_fn": "probability_fn_name"}

    def __init__(
        self,
        units: int,
        memory: Any,
        memory_sequence_length: Any = None,
        normalize: bool = False,
        probability_fn: str = "softmax",
        kernel_initializer: Any = "glorot_uniform",
        dtype: Any = None,
        name: str = "BahdanauAttention",
        **kwargs: Any,
    ):
        self.probability_fn_name = probability_fn
        kwargs.update(name=name, probability_fn=_known_probability(probability_fn))
        super().__init__(
            units, memory, memory_sequence_length, normalize, kernel_initializer, dtype, **kwargs
        )


class _BaseMonotonicAttentionMechanismV2(_BaseAttentionMechanismV2):
    """A mechanism whose attention begins at the first place and never goes back.

    Args:
      args: Arguments of the mechanism of these scores.
      sigmoid_noise: The standard deviation of noise that is added to scores.
      sigmoid_noise_seed: The seed of the noise.
      score_bias_init: The initial value of a bias of the scores.
      mode: `"parallel"`, `"recursive"` or `"hard"`.
      kwargs: Further arguments.
    """

    def __init__(
        self,
        *args: Any,
        sigmoid_noise: float = 0.0,
        sigmoid_noise_seed: int | None = None,
        score_bias_init: float = 0.0,
        mode: str = "parallel",
        **kwargs: Any,
    ):
        self.sigmoid_noise, self.sigmoid_noise_seed = sigmoid_noise, sigmoid_noise_seed
        self.score_bias_init, self.mode = score_bias_init, mode
        self.attention_score_bias: Any = None
        kwargs["probability_fn"] = functools.partial(
            _monotonic_probability_fn, sigmoid_noise=sigmoid_noise, mode=mode, seed=sigmoid_noise_seed
        )
        super().__init__(*args, **kwargs)

    def _build_bias(self) -> None:
        if self.attention_score_bias is None:
            start = tf.constant_initializer(self.score_bias_init, dtype=self.dtype)
            self.attention_score_bias = self.add_weight(
                "attention_score_bias", shape=(), dtype=self.dtype, initializer=start
            )

    def _score(self, query: tf.Tensor) -> tf.Tensor:
        return super()._score(query) + self.attention_score_bias

    def initial_alignments(self, batch_size: Any, dtype: Any) -> tf.Tensor:
        """All at the first place.

        Args:
          batch_size: The batch size.
          dtype: The type of the elements.

        Returns:
          A tensor.
        """
        return tf.one_hot(tf.zeros((batch_size,), tf.int32), self._alignments_size, dtype=dtype)


_MONOTONIC = {
    name: name for name in ("units", "sigmoid_noise", "sigmoid_noise_seed", "score_bias_init", "mode")
}


class LuongMonotonicAttentionV2(_BaseMonotonicAttentionMechanismV2, _Luong):
    """Monotonic attention (Raffel et al., 2017) with Luong's scores, as a layer.

    Args:
      units: The depth of the query, and of the keys.
      memory: What is attended to; None if a call gives it.
      memory_sequence_length: The length of each row of memory.
      scale: Whether scores are multiplied by a weight.
      sigmoid_noise: The standard deviation of noise that is added to scores.
      sigmoid_noise_seed: The seed of the noise.
      score_bias_init: The initial value of a bias of the scores.
      mode: `"parallel"`, `"recursive"` or `"hard"`; see `monotonic_attention`.
      dtype: The type of the weights.
      name: The name of the layer.
      kwargs: Arguments of the layer, and `memory_layer`.
    """

    _CONFIGURED = {**_MONOTONIC, "scale": "scale"}

    def __init__(
        self,
        units: int,
        memory: Any,
        memory_sequence_length: Any = None,
        scale: bool = False,
        sigmoid_noise: float = 0.0,
        sigmoid_noise_seed: int | None = None,
        score_bias_init: float = 0.0,
        mode: str = "parallel",
        dtype: Any = None,
        name: str = "LuongMonotonicAttention",
        **kwargs: Any,
    ):
        super().__init__(
            units,
            memory,
            memory_sequence_length,
            scale,
            dtype,
            sigmoid_noise=sigmoid_noise,
            sigmoid_noise_seed=sigmoid_noise_seed,
            score_bias_init=score_bias_init,
            mode=mode,
            name=name,
            **kwargs,
        )


class BahdanauMonotonicAttentionV2(_BaseMonotonicAttentionMechanismV2, _Bahdanau):
    """Monotonic attention (Raffel et al., 2017) with Bahdanau's scores, as a layer.

    Args:
      units: The depth of the query, and of the keys.
      memory: What is attended to; None if a call gives it.
      memory_sequence_length: The length of each row of memory.
      normalize: Whether the energy is weight-normalized.
      sigmoid_noise: The standard deviation of noise that is added to scores.
      sigmoid_noise_seed: The seed of the noise.
      score_bias_init: The initial value of a bias of the scores.
      mode: `"parallel"`, `"recursive"` or `"hard"`; see `monotonic_attention`.
      kernel_initializer: The initializer of the network's vector.
      dtype: The type of the weights.
      name: The name of the layer.
      kwargs: Arguments of the layer, `query_layer` and `memory_layer`.
    """

    _CONFIGURED = {**_MONOTONIC, "normalize": "normalize"}

    def __init__(
        self,
        units: int,
        memory: Any,
        memory_sequence_length: Any = None,
        normalize: bool = False,
        sigmoid_noise: float = 0.0,
        sigmoid_noise_seed: int | None = None,
        score_bias_init: float = 0.0,
        mode: str = "parallel",
        kernel_initializer: Any = "glorot_uniform",
        dtype: Any = None,
        name: str = "BahdanauMonotonicAttention",
        **kwargs: Any,
    ):
        super().__init__(
            units,
            memory,
            memory_sequence_length,
            normalize,
            kernel_initializer,
            dtype,
            sigmoid_noise=sigmoid_noise,
            sigmoid_noise_seed=sigmoid_noise_seed,
            score_bias_init=score_bias_init,
            mode=mode,
            name=name,
            **kwargs,
        )
