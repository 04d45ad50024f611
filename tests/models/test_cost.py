import pytest

from rooftree.models.cost import usd_per_million_tokens


def test_the_rent_of_an_hour_is_spread_over_its_tokens():
    # 8 x 9 USD buy an hour, in which 1,000 tokens/s make 3.6 million
    assert usd_per_million_tokens(8, 9.0, 1000.0) == pytest.approx(20.0)


def test_twice_the_tokens_cost_half():
    assert usd_per_million_tokens(8, 9.0, 2000.0) == pytest.approx(10.0)
