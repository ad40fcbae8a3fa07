"""One task of a group of processes: `collective_member.py RANK SIZE PORT SCENARIO` prints what it got, and
stays until its input ends.
"""

from __future__ import annotations

import json
import os
import sys

import torch

from tideflow.cluster.collectives import RemoteStore, StoreKeeper
from tideflow.cluster.dispatch import Dispatch
from tideflow.cluster.transport import Listener, Peer
from tideflow.cluster.worker_threads import WorkerThreads
from tideflow.graph.errors import OpError
from tideflow.runtime.collectives import Collectives, Member, Terms
from tideflow.runtime.process_groups import ProcessGroups
from tideflow.runtime.waiting import StepContext

_SECONDS = 100  # no test waits longer, whatever goes wrong


def main(rank: int, size: int, port: int, scenario: str) -> None:
    tasks = Collectives()
    tasks.others = ProcessGroups(rank, store_at(f"127.0.0.1:{port}", rank), timeout_seconds=_SECONDS)
    print(json.dumps(globals()[scenario](tasks, rank, size)), flush=True)
    sys.stdin.read()  # whoever leaves first would be missed by the others, the store above all
    os._exit(0)


def store_at(address, rank):
    """The store of collectives, which task 0 keeps."""
    if rank:
        return RemoteStore(Peer(address))
    store, threads = StoreKeeper(), WorkerThreads(2, "test")
    dispatch = Dispatch(threads)
    store.serve(dispatch)
    Listener(address, dispatch)
    return store


def meet(tasks, kind, value, instance, size, device="/cpu:0", shape=(2,), seconds=_SECONDS, **terms):
    found = Terms(kind, 1, instance, size, torch.float32, shape, **terms)
    member = Member(device, "op", value, StepContext(seconds), lambda: False)
    return tasks.meet(member, found).tolist()


def rounds(tasks, rank, size):
    """Each kind, and one of them again and again."""
    value = torch.tensor([rank + 1.0, 10.0])
    made = {
        merge: meet(tasks, "reduce", value, merge, size, merge_op=merge, final_op="Id")
        for merge in ("Add", "Mul", "Min", "Max")
    }
    made["mean"] = [
        meet(tasks, "reduce", value * turn, "mean", size, merge_op="Add", final_op="Div") for turn in range(3)
    ]
    made["gather"] = meet(tasks, "gather", value, "gather", size)
    made["broadcast"] = meet(tasks, "broadcast", value if rank == size - 1 else None, "broadcast", size)
    made["mine"] = value.tolist()  # what a member brings is left alone
    return made


def several_devices(tasks, rank, size):
    """Task 0 has two members of the group, every other one."""
    from concurrent.futures import ThreadPoolExecutor

    count = 2 if rank == 0 else 1

    def member(number):
        value = torch.tensor([rank + 1.0, number])
        place = f"/cpu:{number}"
        total = meet(tasks, "reduce", value, 1, size + 1, place, merge_op="Add", final_op="Id")
        return [total, meet(tasks, "gather", value, 2, size + 1, place)]

    with ThreadPoolExecutor(count) as threads:
        return list(threads.map(member, range(count)))


def lost_member(tasks, rank, size):
    """The last task ends after a round without a word; the others hear of it."""
    value = torch.ones(2)
    meet(tasks, "reduce", value, "first", size, merge_op="Add", final_op="Id")
    if rank == size - 1:
        os._exit(9)
    seen = []
    for instance in ("first", "first"):
        try:
            meet(tasks, "reduce", value, instance, size, merge_op="Add", final_op="Id")
        except OpError as error:
            seen.append([type(error).__name__, error.message])
    return seen


def late_member(tasks, rank, size):
    """The last task never comes to the second instance: the step's time ends the wait for it."""
    value = torch.ones(2)
    meet(tasks, "reduce", value, "first", size, merge_op="Add", final_op="Id")
    if rank == size - 1:
        return None
    try:
        meet(tasks, "reduce", value, "second", size, seconds=1, merge_op="Add", final_op="Id")
    except OpError as error:
        return [type(error).__name__, error.message]


if __name__ == "__main__":
    main(int(sys.argv[1]), int(sys.argv[2]), int(sys.argv[3]), sys.argv[4])
