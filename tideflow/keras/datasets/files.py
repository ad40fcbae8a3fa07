"""The files of datasets: some hold pickles, of which nothing but arrays and plain values is made."""

from __future__ import annotations

import io
import pickle
import zipfile
from typing import Any

import numpy as np

from tideflow.keras.utils.data_utils import get_file

_ORIGIN = "https://storage.googleapis.com/tensorflow/tf-keras-datasets/"
_ALLOWED = {
    ("_reconstruct", "multiarray"),
    ("scalar", "multiarray"),
    ("ndarray", "numpy"),
    ("dtype", "numpy"),
    ("encode", "_codecs"),
}


class _Arrays(pickle.Unpickler):
    """Reads a pickle of arrays, lists and numbers. One that calls anything else is refused."""

    def find_class(self, module: str, name: str) -> Any:
        root, _, last = module.rpartition(".")
        if (name, last) in _ALLOWED and root in ("", "numpy.core", "numpy._core"):
            return super().find_class(module, name)
        raise pickle.UnpicklingError(
            f"The file asks for {module}.{name}: a dataset holds nothing but arrays and numbers."
        )


def unpickled(path: str) -> Any:
    """What a file holds, made of arrays, lists, dictionaries and numbers alone."""
    with open(path, "rb") as file:
        return _Arrays(file, encoding="bytes").load()


def stored(path: str, origin: str, **kwargs: Any) -> str:
    """The path of a file in the cache of Keras, or as given."""
    return get_file(path, origin if "://" in origin else _ORIGIN + origin, **kwargs)


def arrays(path: str) -> dict[str, np.ndarray]:
    """The arrays of an `.npz` file by name; those of lists too."""
    with zipfile.ZipFile(path) as archive:
        return {name.removesuffix(".npy"): _array(archive.read(name)) for name in archive.namelist()}


def _array(data: bytes) -> np.ndarray:
    file = io.BytesIO(data)
    header = {(1, 0): np.lib.format.read_array_header_1_0, (2, 0): np.lib.format.read_array_header_2_0}
    read = header[np.lib.format.read_magic(file)]
    shape, _, dtype = read(file)
    if not dtype.hasobject:
        return np.load(io.BytesIO(data), allow_pickle=False)
    return _Arrays(file, encoding="latin1").load().reshape(shape)
