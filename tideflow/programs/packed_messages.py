"""Messages inside `google.protobuf.Any`, under the names that TensorFlow's files have for them.

TensorFlow's messages are here those of TensorBoard's package, `tensorboard.AssetFileDef`; a program packs and
unpacks them as `tensorflow.AssetFileDef`, in collections and in SavedModels.
"""

from __future__ import annotations

from typing import Any

from google.protobuf.internal import well_known_types

_HERE, _IN_FILES = "tensorboard.", "tensorflow."


def install() -> None:
    """From here on, messages are packed under TensorFlow's names, and are unpacked from both."""
    packed = well_known_types.Any
    if packed.Is is not _is:
        packed.Is, packed.Pack = _is, _packing(packed.Pack)


def _name_in_files(name: str) -> str:
    return _IN_FILES + name.removeprefix(_HERE) if name.startswith(_HERE) else name


def _is(self: Any, descriptor: Any) -> bool:
    """Whether the message inside is of this type."""
    return "/" in self.type_url and _name_in_files(self.TypeName()) == _name_in_files(descriptor.full_name)


def _packing(pack: Any) -> Any:
    def packed(self: Any, *args: Any, **kwargs: Any) -> None:
        pack(self, *args, **kwargs)
        prefix, slash, name = self.type_url.rpartition("/")
        self.type_url = prefix + slash + _name_in_files(name)

    packed.__name__, packed.__doc__ = pack.__name__, pack.__doc__
    return packed
