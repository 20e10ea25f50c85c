import os
from collections.abc import Iterator

import pytest
from hypothesis import HealthCheck, settings
from postgres import Cluster, cluster

# fixed seeds: a failure today is a failure tomorrow
settings.register_profile("fixed", derandomize=True, deadline=None, suppress_health_check=list(HealthCheck))
settings.register_profile("wild", deadline=None, max_examples=2000, suppress_health_check=list(HealthCheck))
settings.load_profile(os.environ.get("HYPOTHESIS_PROFILE", "fixed"))


@pytest.fixture(scope="session")
def postgres() -> Iterator[Cluster]:
    with cluster() as made:
        yield made
