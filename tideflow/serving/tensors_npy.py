"""Tensors as NumPy's files: `application/x-npy` for one, `application/x-npz` for several."""

from __future__ import annotations

import io
import math
import zipfile
from collections.abc import Mapping

import numpy as np

from tideflow.graph import dtypes, errors
from tideflow.serving.calls import Array, Arrays, TensorSpec

NPY, NPZ = b"application/x-npy", b"application/x-npz"
_LARGEST_HEADER = 10_000
_SUFFIX = ".npy"


def read_body(kind: bytes, body: bytes, specs: Mapping[str, TensorSpec], limit: int) -> Arrays:
    """The inputs of a request. `limit` is the most bytes that a compressed body may grow to."""
    if kind == NPZ:
        return {name: _as_spec(array, specs.get(name)) for name, array in _read_zip(body, limit).items()}
    if len(specs) != 1:
        raise errors.invalid_argument(
            f"An npy body holds one tensor, but the signature takes {len(specs)}: {','.join(sorted(specs))}. "
            f"Send them as {NPZ.decode()}."
        )
    ((name, spec),) = specs.items()
    return {name: _as_spec(read_npy(body), spec)}


def read_npy(data: bytes) -> Array:
    """The array of a file. Nothing in it is run, and no more memory is taken than the file has."""
    file = io.BytesIO(data)
    try:
        version = np.lib.format.read_magic(file)
        read_header = {
            (1, 0): np.lib.format.read_array_header_1_0,
            (2, 0): np.lib.format.read_array_header_2_0,
        }[version]
        shape, is_fortran, dtype = read_header(file, max_header_size=_LARGEST_HEADER)
    except Exception as error:  # the header is Python's text, and NumPy lets Python's own errors out
        raise errors.invalid_argument(f"The body is no npy file: {error}") from None
    given = len(data) - file.tell()
    if dtype.hasobject:
        raise errors.invalid_argument(
            "An npy body may not hold objects; send strings as fixed-length bytes (S)"
        )
    if any(size < 0 for size in shape) or math.prod(shape) * dtype.itemsize != given:
        raise errors.invalid_argument(
            f"The npy header speaks of {shape} of {dtype}, and {given} bytes follow"
        )
    flat = np.frombuffer(data, dtype, offset=file.tell()) if dtype.itemsize else np.zeros(shape, dtype)
    if is_fortran:
        return flat.reshape(shape[::-1]).T
    return flat.reshape(shape)


def _read_zip(body: bytes, limit: int) -> Arrays:
    try:
        with zipfile.ZipFile(io.BytesIO(body)) as archive:
            if sum(member.file_size for member in archive.infolist()) > limit:
                raise errors.resource_exhausted(f"The npz body holds more than {limit} bytes")
            return {
                member.filename.removesuffix(_SUFFIX): read_npy(archive.read(member))
                for member in archive.infolist()
            }
    except errors.OpError:
        raise
    except Exception as error:  # of the archive, or of whatever compresses its members
        raise errors.invalid_argument(f"The body is no npz file: {error}") from None


def _as_spec(array: Array, spec: TensorSpec | None) -> Array:
    """Strings are objects in calls; arrays of another byte order are put in this machine's."""
    if array.dtype.kind == "S":
        return array.astype(object)
    if (
        spec is not None
        and spec.dtype is dtypes.bfloat16
        and array.dtype.itemsize == 2
        and array.dtype.kind == "V"
    ):
        return array.view(spec.dtype.numpy)
    return np.ascontiguousarray(array, array.dtype.newbyteorder("="))


def write_body(kind: bytes, outputs: Arrays) -> bytes:
    """The answer to a request for NumPy's files."""
    if kind == NPY:
        if len(outputs) != 1:
            raise errors.invalid_argument(
                f"An npy answer holds one tensor, not {len(outputs)}: accept {NPZ.decode()}"
            )
        return _npy(next(iter(outputs.values())))
    file = io.BytesIO()
    with zipfile.ZipFile(file, "w") as archive:
        for name, array in outputs.items():
            archive.writestr(f"{name}{_SUFFIX}", _npy(array))
    return file.getvalue()


def _npy(array: Array) -> bytes:
    if array.dtype == object:
        if any(value.endswith(b"\0") for value in array.reshape(-1)):
            raise errors.invalid_argument(
                "NumPy's strings cannot end with zeros, and one of these does: accept JSON"
            )
        array = array.astype("S")
    file = io.BytesIO()
    np.lib.format.write_array(file, array, allow_pickle=False)
    return file.getvalue()
