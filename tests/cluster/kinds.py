"""Kinds of message for tests of the transport: each carries any fields, and any tensors."""

from __future__ import annotations

from typing import Any

from tideflow.cluster.messages import Kinds, Message, TensorsAhead


class Echo(Message, frozen=True, tag="echo"):
    fields: dict[str, Any] = {}


class Ok(Echo, frozen=True, tag="ok"):
    pass


class Wait(Echo, frozen=True, tag="wait"):
    pass


class Push(Echo, frozen=True, tag="push"):
    pass


class Ones(Echo, frozen=True, tag="ones"):
    pass


class Sums(Echo, frozen=True, tag="sums"):
    pass


class Later(Echo, frozen=True, tag="later"):
    pass


KINDS = Kinds(Echo, Ok, Wait, Push, Ones, Sums, Later, TensorsAhead)
