"""Functions and classes of `tf` whose arguments have another order, other names or defaults in version 2.

Each row is how version 2 is called. The arguments go by their names to what stands at the same place in `tf`;
after an arrow stand those that are given besides, or under another name, and the place if that differs.
"""

from __future__ import annotations

import ast
import functools
import inspect
from collections.abc import Callable, Iterator
from typing import Any

import tideflow as tf

_ROWS = """
argmax(input, axis=None, output_type=tf.int64, name=None)
argmin(input, axis=None, output_type=tf.int64, name=None)
assert_equal(x, y, message=None, summarize=None, name=None)
assert_greater(x, y, message=None, summarize=None, name=None)
assert_less(x, y, message=None, summarize=None, name=None)
assert_rank(x, rank, message=None, name=None)
autograph.to_code(entity, recursive=True, experimental_optional_features=None)
autograph.to_graph(entity, recursive=True, experimental_optional_features=None)
batch_to_space(input, block_shape, crops, name=None) -> batch_to_space_nd()
boolean_mask(tensor, mask, axis=None, name="boolean_mask")
cond(pred, true_fn=None, false_fn=None, name=None) -> cond(strict=True)
convert_to_tensor(value, dtype=None, dtype_hint=None, name=None)
debugging.assert_all_finite(x, message, name=None)
debugging.assert_equal(x, y, message=None, summarize=None, name=None)
debugging.assert_greater(x, y, message=None, summarize=None, name=None)
debugging.assert_greater_equal(x, y, message=None, summarize=None, name=None)
debugging.assert_less(x, y, message=None, summarize=None, name=None)
debugging.assert_less_equal(x, y, message=None, summarize=None, name=None)
debugging.assert_near(x, y, rtol=None, atol=None, message=None, summarize=None, name=None)
debugging.assert_negative(x, message=None, summarize=None, name=None)
debugging.assert_non_negative(x, message=None, summarize=None, name=None)
debugging.assert_non_positive(x, message=None, summarize=None, name=None)
debugging.assert_none_equal(x, y, summarize=None, message=None, name=None)
debugging.assert_positive(x, message=None, summarize=None, name=None)
debugging.assert_rank(x, rank, message=None, name=None)
debugging.assert_rank_at_least(x, rank, message=None, name=None)
debugging.assert_rank_in(x, ranks, message=None, name=None)
debugging.assert_scalar(tensor, message=None, name=None)
device(device_name) -> device(device_name_or_function=device_name)
expand_dims(input, axis, name=None)
feature_column.categorical_column_with_vocabulary_file(key, vocabulary_file, vocabulary_size=None, dtype=tf.string, default_value=None, num_oov_buckets=0)
gather(params, indices, validate_indices=None, axis=None, batch_dims=0, name=None)
gather_nd(params, indices, batch_dims=0, name=None)
gradients(ys, xs, grad_ys=None, name="gradients", gate_gradients=False, aggregation_method=None, stop_gradients=None, unconnected_gradients=tf.UnconnectedGradients.NONE)
hessians(ys, xs, gate_gradients=False, aggregation_method=None, name="hessians")
image.crop_and_resize(image, boxes, box_indices, crop_size, method="bilinear", extrapolation_value=0, name=None)
image.draw_bounding_boxes(images, boxes, colors, name=None)
image.sample_distorted_bounding_box(image_size, bounding_boxes, seed=0, min_object_covered=0.1, aspect_ratio_range=None, area_range=None, max_attempts=None, use_image_if_no_bounding_boxes=None, name=None)
io.decode_csv(records, record_defaults, field_delim=",", use_quote_delim=True, na_value="", select_cols=None, name=None)
io.parse_example(serialized, features, example_names=None, name=None)
io.parse_single_example(serialized, features, example_names=None, name=None)
io.serialize_many_sparse(sp_input, out_type=tf.string, name=None)
io.serialize_sparse(sp_input, out_type=tf.string, name=None)
keras.layers.GRU(units, activation="tanh", recurrent_activation="sigmoid", use_bias=True, **kwargs) -> keras.layers.GRU(reset_after=True)
keras.layers.GRUCell(units, activation="tanh", recurrent_activation="sigmoid", use_bias=True, **kwargs) -> keras.layers.GRUCell(reset_after=True)
keras.layers.LSTM(units, activation="tanh", recurrent_activation="sigmoid", use_bias=True, **kwargs)
keras.layers.LSTMCell(units, activation="tanh", recurrent_activation="sigmoid", use_bias=True, **kwargs)
linalg.l2_normalize(x, axis=None, epsilon=1e-12, name=None)
linalg.norm(tensor, ord="euclidean", axis=None, keepdims=None, name=None)
math.argmax(input, axis=None, output_type=tf.int64, name=None)
math.argmin(input, axis=None, output_type=tf.int64, name=None)
math.confusion_matrix(labels, predictions, num_classes=None, weights=None, dtype=tf.int32, name=None)
math.count_nonzero(input, axis=None, keepdims=None, dtype=tf.int64, name=None)
math.in_top_k(targets, predictions, k, name=None)
math.l2_normalize(x, axis=None, epsilon=1e-12, name=None)
math.log_softmax(logits, axis=None, name=None)
math.reduce_all(input_tensor, axis=None, keepdims=False, name=None)
math.reduce_any(input_tensor, axis=None, keepdims=False, name=None)
math.reduce_logsumexp(input_tensor, axis=None, keepdims=False, name=None)
math.reduce_max(input_tensor, axis=None, keepdims=False, name=None)
math.reduce_mean(input_tensor, axis=None, keepdims=False, name=None)
math.reduce_min(input_tensor, axis=None, keepdims=False, name=None)
math.reduce_prod(input_tensor, axis=None, keepdims=False, name=None)
math.reduce_sum(input_tensor, axis=None, keepdims=False, name=None)
math.softmax(logits, axis=None, name=None)
nn.avg_pool2d(input, ksize, strides, padding, data_format="NHWC", name=None)
nn.batch_norm_with_global_normalization(input, mean, variance, beta, gamma, variance_epsilon, scale_after_normalization, name=None)
nn.conv1d(input, filters, stride, padding, data_format="NWC", dilations=None, name=None)
nn.conv2d(input, filters, strides, padding, data_format="NHWC", dilations=None, name=None)
nn.conv2d_transpose(input, filters, output_shape, strides, padding="SAME", data_format="NHWC", dilations=None, name=None)
nn.conv3d(input, filters, strides, padding, data_format="NDHWC", dilations=None, name=None)
nn.conv3d_transpose(input, filters, output_shape, strides, padding="SAME", data_format="NDHWC", dilations=None, name=None) -> nn.conv3d_transpose(value=None)
nn.convolution(input, filters, strides=None, padding="VALID", data_format=None, dilations=None, name=None) -> nn.convolution(filter=None)
nn.crelu(features, axis=-1, name=None)
nn.depth_to_space(input, block_size, data_format="NHWC", name=None)
nn.depthwise_conv2d(input, filter, strides, padding, data_format=None, dilations=None, name=None)
nn.dropout(x, rate, noise_shape=None, seed=None, name=None)
nn.embedding_lookup(params, ids, max_norm=None, name=None) -> nn.embedding_lookup(partition_strategy="div")
nn.embedding_lookup_sparse(params, sp_ids, sp_weights, combiner=None, max_norm=None, name=None) -> nn.embedding_lookup_sparse(partition_strategy="div")
nn.fractional_avg_pool(value, pooling_ratio, pseudo_random=False, overlapping=False, seed=0, name=None)
nn.fractional_max_pool(value, pooling_ratio, pseudo_random=False, overlapping=False, seed=0, name=None)
nn.in_top_k(targets, predictions, k, name=None)
nn.l2_normalize(x, axis=None, epsilon=1e-12, name=None)
nn.log_softmax(logits, axis=None, name=None)
nn.max_pool_with_argmax(input, ksize, strides, padding, data_format="NHWC", output_dtype=tf.int64, include_batch_in_index=False, name=None)
nn.moments(x, axes, shift=None, keepdims=False, name=None)
nn.nce_loss(weights, biases, labels, inputs, num_sampled, num_classes, num_true=1, sampled_values=None, remove_accidental_hits=False, name="nce_loss") -> nn.nce_loss(partition_strategy="div")
nn.pool(input, window_shape, pooling_type, strides=None, padding="VALID", data_format=None, dilations=None, name=None)
nn.safe_embedding_lookup_sparse(embedding_weights, sparse_ids, sparse_weights=None, combiner="mean", default_id=None, max_norm=None, name=None)
nn.sampled_softmax_loss(weights, biases, labels, inputs, num_sampled, num_classes, num_true=1, sampled_values=None, remove_accidental_hits=True, seed=None, name="sampled_softmax_loss") -> nn.sampled_softmax_loss(partition_strategy="div")
nn.separable_conv2d(input, depthwise_filter, pointwise_filter, strides, padding, data_format=None, dilations=None, name=None)
nn.sigmoid_cross_entropy_with_logits(labels=None, logits=None, name=None)
nn.softmax(logits, axis=None, name=None)
nn.softmax_cross_entropy_with_logits(labels, logits, axis=-1, name=None) -> nn.softmax_cross_entropy_with_logits_v2()
nn.space_to_batch(input, block_shape, paddings, name=None) -> space_to_batch_nd()
nn.space_to_depth(input, block_size, data_format="NHWC", name=None)
nn.sparse_softmax_cross_entropy_with_logits(labels, logits, name=None)
nn.sufficient_statistics(x, axes, shift=None, keepdims=False, name=None)
nn.weighted_cross_entropy_with_logits(labels, logits, pos_weight, name=None)
nn.weighted_moments(x, axes, frequency_weights, keepdims=False, name=None)
ones_like(input, dtype=None, name=None) -> ones_like(tensor=input)
pad(tensor, paddings, mode="CONSTANT", constant_values=0, name=None)
random.poisson(shape, lam, dtype=tf.float32, seed=None, name=None)
reduce_all(input_tensor, axis=None, keepdims=False, name=None)
reduce_any(input_tensor, axis=None, keepdims=False, name=None)
reduce_logsumexp(input_tensor, axis=None, keepdims=False, name=None)
reduce_max(input_tensor, axis=None, keepdims=False, name=None)
reduce_mean(input_tensor, axis=None, keepdims=False, name=None)
reduce_min(input_tensor, axis=None, keepdims=False, name=None)
reduce_prod(input_tensor, axis=None, keepdims=False, name=None)
reduce_sum(input_tensor, axis=None, keepdims=False, name=None)
reverse_sequence(input, seq_lengths, seq_axis=None, batch_axis=None, name=None)
shape(input, out_type=tf.int32, name=None)
size(input, out_type=tf.int32, name=None)
space_to_batch(input, block_shape, paddings, name=None) -> space_to_batch_nd()
sparse.add(a, b, threshold=0)
sparse.concat(axis, sp_inputs, expand_nonconcat_dims=False, name=None)
sparse.segment_mean(data, indices, segment_ids, num_segments=None, name=None)
sparse.segment_sqrt_n(data, indices, segment_ids, num_segments=None, name=None)
sparse.segment_sum(data, indices, segment_ids, num_segments=None, name=None)
sparse.split(sp_input=None, num_split=None, axis=None, name=None)
squeeze(input, axis=None, name=None)
strings.length(input, unit="BYTE", name=None)
strings.reduce_join(inputs, axis=None, keepdims=False, separator="", name=None)
strings.substr(input, pos, len, unit="BYTE", name=None)
strings.to_hash_bucket(input, num_buckets, name=None)
strings.to_number(input, out_type=tf.float32, name=None)
transpose(a, perm=None, conjugate=False, name="transpose")
tuple(tensors, control_inputs=None, name=None)
while_loop(cond, body, loop_vars, shape_invariants=None, parallel_iterations=10, back_prop=True, swap_memory=False, maximum_iterations=None, name=None) -> while_loop(return_same_structure=True)
zeros_like(input, dtype=None, name=None) -> zeros_like(tensor=input)
"""  # noqa: E501 - a row is read as a whole


@functools.cache
def _rows() -> dict[str, tuple[ast.Call, ast.Call | None]]:
    """How version 2 is called, and what it calls, by name."""
    made = {}
    for row in _ROWS.strip().splitlines():
        called, _, calls = row.partition(" -> ")
        made[called.partition("(")[0]] = (_call(called), _call(calls) if calls else None)
    return made


def _call(text: str) -> ast.Call:
    (statement,) = ast.parse(text).body
    assert isinstance(statement, ast.Expr) and isinstance(statement.value, ast.Call)
    return statement.value


def _value(node: ast.expr) -> Any:
    return eval(compile(ast.Expression(node), "rearranged", "eval"), {"tf": tf})


@functools.cache
def form_of(path: str) -> Any:
    """The function or the class of version 2 at a path; None where that of `tf` is called in the same way."""
    if path not in _rows():
        return None
    called, calls = _rows()[path]
    place = path if calls is None else ast.unparse(calls.func)
    target = functools.reduce(getattr, place.split("."), tf)
    signature = inspect.Signature([*_parameters(called)])
    renamed: dict[str, str] = {}  # an argument of version 2 -> its name in `tf`
    besides: dict[str, Any] = {}
    for word in calls.keywords if calls else ():
        if isinstance(word.value, ast.Name):
            renamed[word.value.id] = str(word.arg)
        else:
            besides[str(word.arg)] = _value(word.value)
    return _form(path, target, signature, renamed, besides)


def _parameters(called: ast.Call) -> Iterator[inspect.Parameter]:
    kind = inspect.Parameter.POSITIONAL_OR_KEYWORD
    for arg in called.args:
        assert isinstance(arg, ast.Name)
        yield inspect.Parameter(arg.id, kind)
    for word in called.keywords:
        if word.arg is None:
            yield inspect.Parameter("kwargs", inspect.Parameter.VAR_KEYWORD)
        else:
            yield inspect.Parameter(word.arg, kind, default=_value(word.value))


def _form(
    path: str,
    target: Any,
    signature: inspect.Signature,
    renamed: dict[str, str],
    besides: dict[str, Any],
) -> Any:
    def arguments(args: tuple[Any, ...], kwargs: dict[str, Any]) -> dict[str, Any]:
        bound = signature.bind(*args, **kwargs)
        bound.apply_defaults()
        given = besides | bound.arguments | bound.arguments.get("kwargs", {})
        given.pop("kwargs", None)
        return {renamed.get(name, name): value for name, value in given.items()}

    name = path.rpartition(".")[2]
    if isinstance(target, type):
        return _class(target, name, signature, arguments)

    def form(*args: Any, **kwargs: Any) -> Any:
        return target(**arguments(args, kwargs))

    form.__name__ = form.__qualname__ = name
    form.__doc__ = target.__doc__
    form.__signature__ = signature  # type: ignore[attr-defined]
    return form


def _class(target: type, name: str, signature: inspect.Signature, arguments: Callable[..., Any]) -> type:
    def __init__(self: Any, *args: Any, **kwargs: Any) -> None:
        target.__init__(self, **arguments(args, kwargs))  # type: ignore[misc]

    __init__.__signature__ = signature  # type: ignore[attr-defined]
    return type(name, (target,), {"__init__": __init__, "__doc__": target.__doc__})
