"""Interrupts at random places and instants, in what programs do: see `tests/runtime/interrupts.py`."""

from __future__ import annotations

import faulthandler
import functools
import random
import signal
from pathlib import Path

import tideflow as tf
from tests.runtime import interrupts
from tests.runtime.interrupted_launches import launch_and_interrupt
from tests.runtime.interrupts import KINDS, Kind

NAME = "interrupts"
_LAUNCHES = 0.02  # of the cases: they take as long as hundreds of others
_SIGNALS = 5  # of a timer, in a case


def one(chance: random.Random, corpus: Path) -> None:
    """Interrupts one kind of act, at a place of its code or by a timer; its state is whole afterwards."""
    if chance.random() < _LAUNCHES:
        launch_and_interrupt(chance)
        return
    name = chance.choice(sorted(KINDS))
    kind, places, longest = _prepared(name)
    try:
        if chance.random() < 0.5:
            interrupts.sweep(kind, chance.randrange(places), 1, 1)
        else:
            interrupts.at_random(kind, chance, longest, _SIGNALS)
    except Exception as error:
        raise AssertionError(f"An interrupt breaks {name}: {error!r}") from error
    finally:
        faulthandler.cancel_dump_traceback_later()


@functools.cache
def _prepared(name: str) -> tuple[Kind, int, float]:
    """A kind that is ready to be interrupted, how many places its act has, and how long it takes at most."""
    signal.signal(signal.SIGINT, signal.default_int_handler)
    tf.logging.set_verbosity(tf.logging.FATAL)
    kind = KINDS[name]()
    longest = 1.2 * interrupts.duration(kind.act)
    kind.check()
    return kind, interrupts.places_of(kind), longest
