"""A decoder of `tf.train.Example` records, and handlers that make an item of one or several features."""

from __future__ import annotations

import abc
from collections.abc import Callable, Sequence
from typing import Any

from tideflow.contrib.slim.providers import DataDecoder
from tideflow.export import export
from tideflow.graph import composite, dtypes
from tideflow.image import decoding
from tideflow.ops.arrays import joining, shapes, slicing
from tideflow.ops.control_flow import conditionals, map_and_fold
from tideflow.ops.files import parsing
from tideflow.ops.files.decoding import decode_raw
from tideflow.ops.files.feature_specs import FixedLenFeature
from tideflow.ops.images import codecs
from tideflow.ops.math import binary, casting, reductions
from tideflow.ops.sparse import construction, with_dense

_SPACE = "contrib.slim.tfexample_decoder"


def _dense(tensor: Any, *default: Any) -> Any:
    is_sparse = isinstance(tensor, composite.SparseTensor)
    return with_dense.sparse_tensor_to_dense(tensor, *default) if is_sparse else tensor


@export(f"{_SPACE}.ItemHandler")
class ItemHandler(abc.ABC):
    """Makes an item of the features with some keys.

    Args:
      keys: The keys, or one key.
    """

    def __init__(self, keys: Any):
        self._keys = keys if isinstance(keys, (tuple, list)) else [keys]

    @property
    def keys(self) -> Any:
        """The keys of the features."""
        return self._keys

    @abc.abstractmethod
    def tensors_to_item(self, keys_to_tensors: dict[str, Any]) -> Any:
        """The item, made of the features' tensors by key."""


@export(f"{_SPACE}.ItemHandlerCallback")
class ItemHandlerCallback(ItemHandler):
    """Makes an item by a function of the features' tensors by key.

    Args:
      keys: The keys of the features.
      func: The function.
    """

    def __init__(self, keys: Any, func: Callable):
        super().__init__(keys)
        self._func = func

    def tensors_to_item(self, keys_to_tensors: dict[str, Any]) -> Any:
        return self._func(keys_to_tensors)


@export(f"{_SPACE}.BoundingBox")
class BoundingBox(ItemHandler):
    """Boxes [boxes, 4], made of four features, one for each side.

    Args:
      keys: The keys of top, left, bottom and right; ymin, xmin, ymax and xmax if None.
      prefix: What stands before each key.

    Raises:
      ValueError: If there are not four keys.
    """

    def __init__(self, keys: Sequence[str] | None = None, prefix: str = ""):
        keys = ["ymin", "xmin", "ymax", "xmax"] if keys is None else keys
        if len(keys) != 4:
            raise ValueError(f"BoundingBox expects 4 keys but got {len(keys)}")
        super().__init__([prefix + key for key in keys])

    def tensors_to_item(self, keys_to_tensors: dict[str, Any]) -> Any:
        sides = [keys_to_tensors[key] for key in self._keys]
        sides = [side.values if isinstance(side, composite.SparseTensor) else side for side in sides]
        return shapes.transpose(joining.concat([shapes.expand_dims(side, 0) for side in sides], 0))


@export(f"{_SPACE}.Tensor")
class Tensor(ItemHandler):
    """A feature as a dense tensor.

    Args:
      tensor_key: The key of the feature.
      shape_keys: The keys of features that have its shape.
      shape: Its shape, instead of these.
      default_value: What stands where a sparse feature has nothing.

    Raises:
      ValueError: If both `shape_keys` and `shape` are given.
    """

    def __init__(self, tensor_key: str, shape_keys: Any = None, shape: Any = None, default_value: Any = 0):
        if shape_keys and shape is not None:
            raise ValueError("Cannot specify both shape_keys and shape parameters.")
        if shape_keys and not isinstance(shape_keys, list):
            shape_keys = [shape_keys]
        super().__init__([tensor_key, *(shape_keys or ())])
        self._tensor_key = tensor_key
        self._shape_keys = shape_keys
        self._shape = shape
        self._default_value = default_value

    def tensors_to_item(self, keys_to_tensors: dict[str, Any]) -> Any:
        tensor, shape = keys_to_tensors[self._tensor_key], self._shape
        if self._shape_keys:
            sizes = [_dense(keys_to_tensors[key]) for key in self._shape_keys]
            shape = shapes.reshape(joining.stack(sizes), [-1])
        if not isinstance(tensor, composite.SparseTensor):
            return tensor if shape is None else shapes.reshape(tensor, shape)
        if shape is not None:
            tensor = construction.sparse_reshape(tensor, shape)
        return _dense(tensor, self._default_value)


@export(f"{_SPACE}.LookupTensor")
class LookupTensor(Tensor):
    """A feature whose values are looked up in a table.

    Args:
      tensor_key: The key of the feature.
      table: The table.
      shape_keys: The keys of features that have its shape.
      shape: Its shape, instead of these.
      default_value: What stands where a sparse feature has nothing.
    """

    def __init__(
        self,
        tensor_key: str,
        table: Any,
        shape_keys: Any = None,
        shape: Any = None,
        default_value: Any = "",
    ):
        super().__init__(tensor_key, shape_keys, shape, default_value)
        self._table = table

    def tensors_to_item(self, keys_to_tensors: dict[str, Any]) -> Any:
        return self._table.lookup(super().tensors_to_item(keys_to_tensors))


@export(f"{_SPACE}.BackupHandler")
class BackupHandler(ItemHandler):
    """The item of one handler, or that of another where the first is empty.

    Args:
      handler: The first handler.
      backup: The other.

    Raises:
      ValueError: If one of them is not a handler.
    """

    def __init__(self, handler: ItemHandler, backup: ItemHandler):
        for word, given in (("Primary", handler), ("Backup", backup)):
            if not isinstance(given, ItemHandler):
                raise ValueError(f"{word} handler is of type {type(given)} instead of ItemHandler")
        super().__init__(handler.keys + backup.keys)
        self._handler = handler
        self._backup = backup

    def tensors_to_item(self, keys_to_tensors: dict[str, Any]) -> Any:
        item = self._handler.tensors_to_item(keys_to_tensors)
        return conditionals.cond(
            binary.equal(reductions.reduce_prod(shapes.shape(item)), 0),
            lambda: self._backup.tensors_to_item(keys_to_tensors),
            lambda: item,
        )


@export(f"{_SPACE}.SparseTensor")
class SparseTensor(ItemHandler):
    """A sparse tensor, made of a feature of its indices and one of its values.

    Args:
      indices_key: The key of the indices along the last axis; "indices" if None.
      values_key: The key of the values; "values" if None.
      shape_key: The key of a feature that has its shape.
      shape: Its shape, instead of that.
      densify: Whether the item is dense.
      default_value: What stands then where there is nothing.
    """

    def __init__(
        self,
        indices_key: str | None = None,
        values_key: str | None = None,
        shape_key: str | None = None,
        shape: Any = None,
        densify: bool = False,
        default_value: Any = 0,
    ):
        self._indices_key = indices_key or "indices"
        self._values_key = values_key or "values"
        self._shape_key = shape_key
        self._shape = shape
        self._densify = densify
        self._default_value = default_value
        super().__init__([self._indices_key, self._values_key, *([shape_key] if shape_key else ())])

    def tensors_to_item(self, keys_to_tensors: dict[str, Any]) -> Any:
        indices, values = keys_to_tensors[self._indices_key], keys_to_tensors[self._values_key]
        shape = self._shape or indices.dense_shape
        if self._shape_key:
            shape = _dense(keys_to_tensors[self._shape_key])
        rank = shapes.shape(indices.indices)[1]
        ids = casting.cast(indices.values, dtypes.int64)
        kept = slicing.slice(indices.indices, [0, 0], joining.stack([-1, rank - 1]))
        places = joining.concat([kept, shapes.reshape(ids, [-1, 1])], 1)
        tensor = composite.SparseTensor(places, values.values, shape)
        return _dense(tensor, self._default_value) if self._densify else tensor


@export(f"{_SPACE}.Image")
class Image(ItemHandler):
    """An image, decoded.

    Args:
      image_key: The key of the encoded image; "image/encoded" if None.
      format_key: The key of its format; "image/format" if None. "raw" stands for pixels as they are.
      shape: The shape of the image; needed for raw pixels.
      channels: How many channels it has.
      dtype: The type of the pixels.
      repeated: Whether the feature has several images.
      dct_method: How JPEG images are decoded.
    """

    def __init__(
        self,
        image_key: str | None = None,
        format_key: str | None = None,
        shape: Any = None,
        channels: int | None = 3,
        dtype: Any = dtypes.uint8,
        repeated: bool = False,
        dct_method: str = "",
    ):
        self._image_key = image_key or "image/encoded"
        self._format_key = format_key or "image/format"
        super().__init__([self._image_key, self._format_key])
        self._shape = shape
        self._channels = channels
        self._dtype = dtype
        self._repeated = repeated
        self._dct_method = dct_method

    def tensors_to_item(self, keys_to_tensors: dict[str, Any]) -> Any:
        encoded, form = keys_to_tensors[self._image_key], keys_to_tensors[self._format_key]
        if not self._repeated:
            return self._decode(encoded, form)
        return map_and_fold.map_fn(lambda each: self._decode(each, form), encoded, dtype=self._dtype)

    def _decode(self, encoded: Any, form: Any) -> Any:
        def decode_image() -> Any:
            return casting.cast(decoding.decode_image(encoded, channels=self._channels), self._dtype)

        def decode_jpeg() -> Any:
            image = codecs.decode_jpeg(encoded, channels=self._channels, dct_method=self._dct_method)
            return casting.cast(image, self._dtype)

        def check_jpeg() -> Any:
            return conditionals.cond(decoding.is_jpeg(encoded), decode_jpeg, decode_image, name="cond_jpeg")

        is_raw = binary.logical_or(binary.equal(form, "raw"), binary.equal(form, "RAW"))
        image = conditionals.case(
            [(is_raw, lambda: decode_raw(encoded, out_type=self._dtype))], default=check_jpeg, exclusive=True
        )
        image.set_shape([None, None, self._channels])
        return image if self._shape is None else shapes.reshape(image, self._shape)


@export(f"{_SPACE}.TFExampleDecoder")
class TFExampleDecoder(DataDecoder):
    """Decodes records that are serialized `tf.train.Example`s.

    Args:
      keys_to_features: The features to parse, by key, as for `tf.parse_single_example`.
      items_to_handlers: The handler of each item.
    """

    def __init__(self, keys_to_features: dict[str, Any], items_to_handlers: dict[str, ItemHandler]):
        self._keys_to_features = keys_to_features
        self._items_to_handlers = items_to_handlers

    def list_items(self) -> list[str]:
        """The names of the items."""
        return list(self._items_to_handlers)

    def decode(self, serialized_example: Any, items: Sequence[str] | None = None) -> list[Any]:
        """The tensors of some items.

        Args:
          serialized_example: A record, a scalar string.
          items: The names of the items; all if None.

        Returns:
          A list of tensors.
        """
        example = parsing.parse_single_example(serialized_example, self._keys_to_features)
        for key, feature in sorted(self._keys_to_features.items(), key=lambda pair: pair[0]):
            if isinstance(feature, FixedLenFeature):
                example[key] = shapes.reshape(example[key], feature.shape)
        handlers = [self._items_to_handlers[item] for item in items or self._items_to_handlers]
        return [handler.tensors_to_item({key: example[key] for key in handler.keys}) for handler in handlers]
