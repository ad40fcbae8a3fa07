"""A task for tests, `python -m tests.cluster.echo ADDRESS`: it answers until its input ends."""

import sys
import threading

import torch

from tests.cluster.kinds import KINDS, Echo, Later, Ok, Ones, Sums, Wait
from tideflow.cluster.transport import Identity, Listener

unanswered = []


def handle(message, reply, sender=None):
    if reply is None:
        return
    match message:
        case Wait():
            unanswered.append(reply)
        case Sums():
            reply(Ok({"sums": [float(tensor.sum()) for tensor in message.tensors]}))
        case Ones():
            reply(Ok(tensors=[torch.ones(message.fields["count"])]))
        case Later():
            threading.Thread(target=reply, args=(message,)).start()
        case Echo():
            reply(message)


if __name__ == "__main__":
    listener = Listener(sys.argv[1], handle, kinds=KINDS, identity=Identity("/job:ps/task:0"))
    print("ready", flush=True)
    sys.stdin.read()
    listener.close()
