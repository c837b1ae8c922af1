"""What several test files share."""

import pytest
from hypothesis import settings

settings.register_profile("same every time", derandomize=True, deadline=None)
settings.load_profile("same every time")


@pytest.fixture
def dataset_or_skip():
    "`dataset_or_skip(name, **options)`: the data set, or a skipped test with the reason. Nothing is downloaded."
    from comparison_hc.datasets import DatasetNotFoundError, load_dataset

    def load(name, **options):
        try: return load_dataset(name, download=False, **options)
        except DatasetNotFoundError as error: pytest.skip(str(error))

    return load
