"""The namespaces of `tf.compat.v2`. They look names up when asked; most are those of `tf`."""

from __future__ import annotations

import functools
import importlib
import importlib.resources
import re
import sys
import types
from typing import Any

import tideflow as tf
from tideflow.compat_v2 import functions, rearranged, summary, traces
from tideflow.export import MissingName, Namespace
from tideflow.variables import second_initializers

_PREFIX = "tideflow.compat.v2"
_WHOLE = "*"
_OF_KERAS = {space: f"keras.{space}" for space in ("initializers", "losses", "metrics", "optimizers")}
_ELSEWHERE = {
    "nn.avg_pool": "nn.avg_pool_v2",
    "nn.ctc_loss": "nn.ctc_loss_v2",
    "nn.max_pool": "nn.max_pool_v2",
    "nn.RNNCellDeviceWrapper": "nn.rnn_cell.DeviceWrapper",
    "nn.RNNCellDropoutWrapper": "nn.rnn_cell.DropoutWrapper",
    "nn.RNNCellResidualWrapper": "nn.rnn_cell.ResidualWrapper",
    "random.set_seed": "set_random_seed",
    "saved_model.load": "saved_model.load_v2",
    "where": "where_v2",
}
# Estimators that optimizers of Keras train here, in a module that is loaded when one is asked for.
_CANNED = re.compile(r"estimator\.(Baseline|DNN|DNNLinearCombined|Linear)(Classifier|Estimator|Regressor)")
_OWN: dict[str, Any] = {**functions.NAMES, **second_initializers.NAMES, **summary.NAMES, **traces.NAMES}


@functools.cache
def _spaces() -> dict[str, list[str]]:
    """The names of each namespace; of `tf` itself under ""."""
    text = importlib.resources.files("tideflow.graph").joinpath("data/api_v2.txt").read_text()
    rows = text.replace("\n  ", " ").splitlines()
    parts = (row.partition(":") for row in rows if not row.startswith("#"))
    listed = {space: names.split() for space, _, names in parts}
    listed[""] = listed.pop("tf")
    return {**listed, "compat": [], "xla": []}


class _Names(Namespace):
    """A namespace of `tf.compat.v2`."""

    def __init__(self, path: str, within: str = ""):
        """`within` is the namespace of `tf` that has all of these names, where there is one."""
        super().__init__(f"{_PREFIX}.{path}".rstrip("."), f"The public namespace tf.compat.v2.{path}.")
        self.__path__: list[str] = []
        self._path, self._within = path, within
        sys.modules[self.__name__] = self

    def __getattr__(self, name: str) -> Any:
        if name == "__all__":
            return dir(self)
        path = f"{self._path}.{name}".lstrip(".")
        if not name.startswith("__"):
            value = self._found(path, name)
            if value is not self:
                setattr(self, name, value)
                return value
        raise MissingName(self.__name__, name)

    def _found(self, path: str, name: str) -> Any:
        """What stands under a name; this namespace itself if nothing does."""
        if path in _OWN:
            return _OWN[path]
        if _CANNED.fullmatch(path):
            second_forms = importlib.import_module("tideflow.estimator.canned.second_forms")
            return getattr(second_forms, f"{name}V2")
        if path == "compat.v1":
            return tf
        if path == "compat.v2":
            return ROOT
        if path in _spaces() and _spaces()[path] != [_WHOLE]:
            return _Names(path)
        if self._within or _spaces().get(path) == [_WHOLE]:
            return self._of_whole(path)
        if self._path == "compat":
            return _of_tf(path)
        return rearranged.form_of(path) or _of_tf(path) if name in _spaces()[self._path] else self

    def _of_whole(self, path: str) -> Any:
        found = rearranged.form_of(path) or _of_tf(path)
        return _Names(path, within=path) if isinstance(found, types.ModuleType) else found

    def __dir__(self) -> list[str]:
        if self._within:
            return dir(_of_tf(self._within))
        inner = (space.rpartition(".") for space in _spaces() if space)
        names = {name for space, _, name in inner if space == self._path}
        return sorted(names.union(_spaces()[self._path], vars(self)) - {"_path", "_within"})


def _of_tf(path: str) -> Any:
    space, _, rest = path.partition(".")
    place = f"{_OF_KERAS[space]}.{rest}" if space in _OF_KERAS else path
    return functools.reduce(getattr, _ELSEWHERE.get(place, place).split("."), tf)


ROOT = _Names("")  # tf.compat.v2
