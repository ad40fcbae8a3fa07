"""Schemas as feature specs, which say how `tf.io.parse_example` reads features, and back."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import tideflow as tf
from tideflow.pipeline.messages import schema as messages

_KINDS = {tf.int64: "INT", tf.float32: "FLOAT", tf.string: "BYTES"}
_DTYPES = {messages.FeatureType.Value(kind): dtype for dtype, kind in _KINDS.items()}


def schema_as_feature_spec(schema: Any) -> tuple[dict[str, Any], dict[str, Any]]:
    """How the features of a schema are read, and the domains of those that have one.

    A feature that every row has, in one shape, is a FixedLenFeature; one of a sparse feature belongs to a
    SparseFeature; any other is a VarLenFeature.

    Args:
      schema: A Schema message.

    Returns:
      Feature specs by name, and domain messages by name.
    """
    features = {feature.name: feature for feature in schema.feature if feature.lifecycle_stage not in _UNUSED}
    strings = {domain.name: domain for domain in schema.string_domain}
    specs: dict[str, Any] = {}
    domains: dict[str, Any] = {}

    def add(name: str, spec: Any, feature: Any) -> None:
        specs[name] = spec
        domain = _domain_of(feature, strings)
        if domain is not None:
            domains[name] = domain

    for sparse in schema.sparse_feature:
        indices = [features.pop(index.name) for index in sparse.index_feature]
        values = features.pop(sparse.value_feature.name)
        sizes = [index.int_domain.max + 1 if index.HasField("int_domain") else -1 for index in indices]
        keys = [index.name for index in indices]
        spec = tf.io.SparseFeature(
            keys if len(keys) > 1 else keys[0],
            values.name,
            _dtype_of(values),
            sizes if len(keys) > 1 else sizes[0],
            sparse.is_sorted,
        )
        add(sparse.name, spec, values)
    for name, feature in features.items():
        add(name, _spec_of(feature), feature)
    return dict(sorted(specs.items())), domains


_UNUSED = [messages.LifecycleStage.Value(name) for name in ("DEPRECATED", "DISABLED")]


def _dtype_of(feature: Any) -> Any:
    if feature.type not in _DTYPES:
        kind = messages.FeatureType.Name(feature.type)
        raise ValueError(f'Feature "{feature.name}" had type {kind}, but INT, FLOAT or BYTES is expected')
    return _DTYPES[feature.type]


def _spec_of(feature: Any) -> Any:
    dtype = _dtype_of(feature)
    if feature.HasField("shape") and feature.presence.min_fraction == 1:
        return tf.io.FixedLenFeature([dim.size for dim in feature.shape.dim], dtype)
    return tf.io.VarLenFeature(dtype)


def _domain_of(feature: Any, strings: Mapping[str, Any]) -> Any:
    kind = feature.WhichOneof("domain_info")
    if kind is None:
        return None
    return strings.get(feature.domain) if kind == "domain" else getattr(feature, kind)


def schema_from_feature_spec(
    feature_spec: Mapping[str, Any], domains: Mapping[str, Any] | None = None
) -> messages.Schema:
    """The schema of features that are read in these ways.

    Args:
      feature_spec: Feature specs by name.
      domains: IntDomain, FloatDomain or StringDomain messages by the names of features.

    Returns:
      A Schema message.
    """
    schema = messages.Schema()
    for name, spec in sorted(feature_spec.items()):
        if isinstance(spec, tf.io.SparseFeature):
            _add_sparse(schema, name, spec)
            feature = schema.feature.add(name=spec.value_key)
        else:
            feature = schema.feature.add(name=name)
        if isinstance(spec, tf.io.FixedLenFeature):
            if spec.default_value is not None:
                raise ValueError(
                    f'feature "{name}" had default_value {spec.default_value}, but FixedLenFeature must have '
                    "default_value=None"
                )
            feature.presence.min_fraction = 1.0
            feature.shape.SetInParent()
            for size in spec.shape:
                feature.shape.dim.add(size=size)
        elif not isinstance(spec, (tf.io.VarLenFeature, tf.io.SparseFeature)):
            raise TypeError(
                f'Spec for feature "{name}" was {spec} of type {type(spec)}, expected a FixedLenFeature, '
                "VarLenFeature or SparseFeature"
            )
        if spec.dtype not in _KINDS:
            raise ValueError(f'Feature "{name}" has invalid dtype {spec.dtype}')
        feature.type = messages.FeatureType.Value(_KINDS[spec.dtype])
        domain = (domains or {}).get(name)
        if domain is not None:
            kind = {"IntDomain": "int_domain", "FloatDomain": "float_domain", "StringDomain": "string_domain"}
            getattr(feature, kind[domain.DESCRIPTOR.name]).CopyFrom(domain)
    return schema


def _add_sparse(schema: Any, name: str, spec: Any) -> None:
    keys = [spec.index_key] if isinstance(spec.index_key, str) else list(spec.index_key)
    sizes = [spec.size] if isinstance(spec.index_key, str) else list(spec.size)
    sparse = schema.sparse_feature.add(name=name)
    sparse.value_feature.name = spec.value_key
    if spec.already_sorted:
        sparse.is_sorted = True
    for key, size in zip(keys, sizes, strict=True):
        sparse.index_feature.add(name=key)
        index = schema.feature.add(name=key, type=messages.FeatureType.Value("INT"))
        if size not in (None, -1):
            index.int_domain.min = 0
            index.int_domain.max = int(size) - 1


def spec_of_outputs(outputs: Mapping[str, Any]) -> dict[str, Any]:
    """How the outputs of a preprocessing function are read, when they have been written as Examples."""
    specs: dict[str, Any] = {}
    for name, tensor in outputs.items():
        if tensor.dtype not in _KINDS:
            raise ValueError(f"Feature {name} ({tensor}) had invalid dtype {tensor.dtype} for feature spec")
        shape = tensor.get_shape()
        if isinstance(tensor, tf.SparseTensor):
            if shape.ndims is not None and shape.ndims > 2:
                specs[name] = tf.io.SparseFeature(
                    [sparse_index_key(name, i) for i in range(shape.ndims - 1)],
                    sparse_value_key(name),
                    tensor.dtype,
                    [-1 if size is None else size for size in shape.as_list()[1:]],
                    True,
                )
            else:
                specs[name] = tf.io.VarLenFeature(tensor.dtype)
            continue
        if not shape.ndims:
            raise ValueError(
                f"Feature {name} ({tensor}) had invalid shape {shape} for FixedLenFeature: must have rank at "
                "least 1"
            )
        if None in shape.as_list()[1:]:
            raise ValueError(
                f"Feature {name} ({tensor}) had invalid shape {shape} for FixedLenFeature: apart from the "
                "batch dimension, all dimensions must have known size"
            )
        specs[name] = tf.io.FixedLenFeature(shape.as_list()[1:], tensor.dtype)
    return specs


def sparse_value_key(name: str) -> str:
    """The feature that holds the values of a sparse output of rank 3 or more."""
    return f"{name}$sparse_values"


def sparse_index_key(name: str, axis: int) -> str:
    """The feature that holds its indices along an axis."""
    return f"{name}$sparse_indices_{axis}"


def as_feature_spec(schema: Any) -> dict[str, Any]:
    """The feature spec of a Schema message, or the given one."""
    return dict(schema) if isinstance(schema, Mapping) else schema_as_feature_spec(schema)[0]
