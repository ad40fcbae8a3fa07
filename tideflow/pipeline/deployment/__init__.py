"""From a trained model to a served one: the canary, the blessing, the push, and the way back."""

from tideflow.pipeline.deployment.blessing import Blessing, bless, digest_of, load_blessing
from tideflow.pipeline.deployment.canary import CanaryResult, Limits, canary, requests_of
from tideflow.pipeline.deployment.experiments import start_experiment, stop_experiment
from tideflow.pipeline.deployment.pushing import push, rollback

__all__ = [
    "Blessing",
    "CanaryResult",
    "Limits",
    "bless",
    "canary",
    "digest_of",
    "load_blessing",
    "push",
    "requests_of",
    "rollback",
    "start_experiment",
    "stop_experiment",
]
