"""Device names: `DeviceSpec`, which may be partial (`/job:ps/device:GPU:1`), and how names are merged."""

from __future__ import annotations

from functools import lru_cache
from typing import Any, Protocol

from tideflow.export import export

_FIELDS = ("job", "replica", "task", "device_type", "device_index")
_BARE_TYPES = ("CPU", "GPU")  # types that may be written without "device:", as in "/gpu:0"


def _to_int(value: Any) -> int | None:
    return None if value is None else int(value)


def _to_text(value: Any) -> str | None:
    return None if value is None else str(value)


def _to_type(value: str | None) -> str | None:
    """The device type; old programs write "cpu" and "gpu", every other type is taken as it is."""
    return value.upper() if value in ("cpu", "gpu") else value


_CLEAN = {
    "job": _to_text,
    "replica": _to_int,
    "task": _to_int,
    "device_type": _to_type,
    "device_index": _to_int,
}


@export("DeviceSpec")
class DeviceSpec:
    """The name of a device, of which any part may be open (None).

    `to_string` writes it as `/job:worker/replica:0/task:1/device:GPU:0`.

    Args:
      job: The job of the cluster, such as `"ps"` or `"worker"`.
      replica: The number of the replica.
      task: The number of the task in the job.
      device_type: The type of the device, such as `"CPU"` or `"GPU"`.
      device_index: The number of the device of that type in the task.
    """

    __slots__ = (*_FIELDS, "__weakref__")

    def __init__(
        self,
        job: str | None = None,
        replica: int | None = None,
        task: int | None = None,
        device_type: str | None = None,
        device_index: int | None = None,
    ) -> None:
        self.job = job
        self.replica = replica
        self.task = task
        self.device_type = device_type
        self.device_index = device_index

    def __setattr__(self, field: str, value: Any) -> None:
        clean = _CLEAN.get(field)
        object.__setattr__(self, field, clean(value) if clean else value)

    @classmethod
    def from_string(cls, spec: str) -> DeviceSpec:
        """Parses a device name.

        Args:
          spec: The name, such as `"/job:worker/task:1/device:GPU:0"` or `"/gpu:0"`.

        Returns:
          The spec.

        Raises:
          ValueError: If `spec` is not a device name.
        """
        return cls(**_parse(spec))

    def parse_from_string(self, spec: str) -> DeviceSpec:
        """Replaces all parts of this spec by those of a device name.

        Args:
          spec: The name.

        Returns:
          This spec.

        Raises:
          ValueError: If `spec` is not a device name.
        """
        parts = _parse(spec)
        for field in _FIELDS:
            setattr(self, field, parts.get(field))
        return self

    def to_string(self) -> str:
        """The full form of the name, `"/job:a/replica:0/task:1/device:GPU:0"`, without the open parts."""
        parts = [
            f"/{field}:{value}"
            for field, value in (("job", self.job), ("replica", self.replica), ("task", self.task))
            if value is not None
        ]
        if self.device_type is not None:
            index = "*" if self.device_index is None else self.device_index
            parts.append(f"/device:{self.device_type}:{index}")
        return "".join(parts)

    def merge_from(self, dev: DeviceSpec) -> None:
        """Sets every part that `dev` has to its value there.

        Args:
          dev: Another spec.
        """
        for field, value in _merged(self, dev).items():
            setattr(self, field, value)

    def make_merged_spec(self, dev: DeviceSpec) -> DeviceSpec:
        """Combines two specs.

        Args:
          dev: Another spec, which takes precedence.

        Returns:
          A new spec with the parts of `dev`, and with this spec's parts where `dev` is open.
        """
        return type(self)(**_merged(self, dev))

    def replace(self, **parts: Any) -> DeviceSpec:
        """Copies this spec with other values for some parts.

        Args:
          **parts: The new values, by the names of the constructor's arguments.

        Returns:
          A new spec.
        """
        return type(self)(**{**_parts(self), **parts})

    def __eq__(self, other: Any) -> bool:
        return isinstance(other, DeviceSpec) and _parts(self) == _parts(other)

    def __hash__(self) -> int:
        return hash(self.to_string())

    def __reduce__(self) -> tuple[Any, ...]:
        return type(self), tuple(_parts(self).values())

    def __repr__(self) -> str:
        return f"DeviceSpec({self.to_string()!r})"


def _parts(spec: DeviceSpec) -> dict[str, Any]:
    return {field: getattr(spec, field) for field in _FIELDS}


def _merged(base: DeviceSpec, over: DeviceSpec) -> dict[str, Any]:
    return {
        field: getattr(base, field) if getattr(over, field) is None else getattr(over, field)
        for field in _FIELDS
    }


def _parse(spec: str) -> dict[str, Any]:
    parts: dict[str, Any] = {}
    for piece in spec.split("/"):
        if not piece:
            continue
        match piece.split(":"):
            case ["job" | "replica" | "task" as field, value]:
                parts[field] = value if field == "job" else int(value)
                continue
            case [short] | [short, _] if short.upper() in _BARE_TYPES:
                kind, index = short.upper(), piece[len(short) + 1 :] or "*"
            case ["device", kind, index]:
                pass
            case [unknown, *_]:
                raise ValueError(f"Unknown attribute: '{unknown}' in '{spec}'")
        if "device_type" in parts:
            raise ValueError(f"Cannot specify multiple device types: {spec}")
        parts["device_type"] = kind
        parts["device_index"] = None if index == "*" else int(index)
    return parts


def canonical_name(device: str | DeviceSpec | None) -> str:
    """The full form of a device's name; "" for None."""
    if device is None:
        return ""
    if isinstance(device, DeviceSpec):
        return device.to_string()
    if not isinstance(device, str):
        raise TypeError(f"A device is a name or a tf.DeviceSpec, not {type(device).__name__}: {device!r}")
    return _canonical(device)


def check_valid(spec: str) -> None:
    """Raises ValueError unless `spec` is a device name."""
    _parse(spec)


@lru_cache(maxsize=4096)
def _canonical(name: str) -> str:
    return DeviceSpec.from_string(name).to_string()


@lru_cache(maxsize=4096)
def merge_names(outer: str, inner: str) -> str:
    """The full name of a device within another's scope: `outer` fills the parts that `inner` leaves open."""
    if not inner:
        return _canonical(outer)
    return DeviceSpec.from_string(outer).make_merged_spec(DeviceSpec.from_string(inner)).to_string()


class HasDevice(Protocol):
    """An operation or a NodeDef."""

    @property
    def device(self) -> str: ...


class MergeDevice:
    """A device function: it gives an op the parts of `spec` that the op's own device leaves open."""

    def __init__(self, spec: str | DeviceSpec | None) -> None:
        self._name = canonical_name(spec)

    @property
    def is_null_merge(self) -> bool:
        """Whether this function changes nothing."""
        return not self._name

    def shortcut_string_merge(self, node_def: HasDevice) -> str:
        """The merged name of the device of a node."""
        return merge_names(self._name, node_def.device or "")

    def __call__(self, node_def: HasDevice) -> DeviceSpec:
        return DeviceSpec.from_string(self.shortcut_string_merge(node_def))

    def __repr__(self) -> str:
        return f"MergeDevice({self._name!r})"


def merge_device(spec: str | DeviceSpec | None) -> MergeDevice:
    """The device function of `tf.device(spec)`; the same object for the same name."""
    return _merge_device(canonical_name(spec))


_merge_device = lru_cache(maxsize=4096)(MergeDevice)
