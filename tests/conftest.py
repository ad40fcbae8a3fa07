"""For all tests: properties are tried on the same examples every time, however long a busy machine takes."""

from hypothesis import HealthCheck, settings

settings.register_profile(
    "tideflow", deadline=None, derandomize=True, suppress_health_check=[HealthCheck.too_slow]
)
settings.load_profile("tideflow")
