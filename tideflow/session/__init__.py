"""Session: feeds, fetches, the step cache; errors a person can act on."""

from tideflow.session.session import BaseSession, InteractiveSession, Session

__all__ = ["BaseSession", "InteractiveSession", "Session"]
