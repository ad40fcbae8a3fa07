"""Messages between tasks over ZeroMQ: a `Listener` answers at an address, a `Peer` asks there.

A listener is one thread that owns one ROUTER socket. A peer is a pool of connections; each is a DEALER
socket, borrowed by one thread at a time, with one request under way and no reconnecting of its own: when it
breaks, whoever waits on it knows at once, and the next request opens a new one and meets whoever lives at the
address then. A server keeps nothing about its clients but how many of their requests are unanswered.
"""

from tideflow.cluster.listener import Listener, Reply
from tideflow.cluster.peer import Peer, Pending, attend, gather
from tideflow.cluster.protocol import Identity
from tideflow.cluster.wire import Message

__all__ = ["Identity", "Listener", "Message", "Peer", "Pending", "Reply", "attend", "gather"]
