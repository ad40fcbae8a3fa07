"""Ports that are kept for tasks which listen later."""

import socket

import pytest

import tideflow as tf
from tideflow.cluster import ports


def test_a_port_is_below_those_of_outgoing_connections():
    with ports.reserved(5) as found:
        assert len(set(found)) == 5 and all(20000 <= port < 32768 for port in found)


def test_a_port_is_kept_from_who_reserves_and_not_from_its_task(monkeypatch):
    with ports.reserve() as kept:
        number = ports.number_of(kept)
        monkeypatch.setattr(ports, "_PORTS", range(number, number + 1))
        with pytest.raises(tf.errors.ResourceExhaustedError, match=f"from {number} to {number} is free"):
            ports.reserve()
        with socket.create_server((ports.LOOPBACK, number)) as task:
            assert task.getsockname()[1] == number
