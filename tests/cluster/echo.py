"""A task for transport tests, `echo.py ADDRESS`: says when it listens and answers until its input ends."""

import sys
import threading

import torch

from tideflow.cluster.transport import Identity, Listener, Message

waiting = []


def handle(message, reply):
    if reply is None:
        return
    if message.kind == "silence":
        waiting.append(reply)
    elif message.kind == "sizes":
        reply(Message("ok", {"sums": [float(tensor.sum()) for tensor in message.tensors]}))
    elif message.kind == "ones":
        reply(Message("ok", {}, [torch.ones(message.fields["count"])]))
    elif message.kind == "later":
        threading.Thread(target=reply, args=(message,)).start()
    else:
        reply(message)


if __name__ == "__main__":
    listener = Listener(sys.argv[1], handle, identity=Identity("/job:ps/task:0"))
    print("ready", flush=True)
    sys.stdin.read()
    listener.close()
