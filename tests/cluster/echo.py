"""A task that says its port and answers until its input ends: the other process of transport tests."""

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
    port = sys.argv[1] if len(sys.argv) > 1 else "0"
    listener = Listener(f"127.0.0.1:{port}", handle, identity=Identity("/job:ps/task:0"))
    print(listener.port, flush=True)
    sys.stdin.read()
    listener.close()
