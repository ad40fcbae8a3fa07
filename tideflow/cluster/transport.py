"""Messages between tasks over ZeroMQ: a `Listener` answers at an address, a `Peer` asks there.

A listener is one thread that owns one ROUTER socket. A peer is a pool of connections. Each is a DEALER socket
that one thread uses at a time, with one request under way, and that does not reconnect by itself: when it
breaks, the thread that waits on it learns so at once, and the next request opens a new connection and greets
the task that answers at the address then. A listener keeps nothing about its clients but how many of their
requests have no answer yet.
"""

from tideflow.cluster.listener import Listener, Reply
from tideflow.cluster.messages import Message
from tideflow.cluster.peer import Peer, Pending, attend, gather
from tideflow.cluster.protocol import Identity

__all__ = ["Identity", "Listener", "Message", "Peer", "Pending", "Reply", "attend", "gather"]
