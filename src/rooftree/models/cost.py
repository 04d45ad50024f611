"""Dollars of a token when the accelerators are rented by the hour."""

from rooftree.units import HOUR_S


def usd_per_million_tokens(devices: int, usd_per_h: float, tokens_per_s: float) -> float:
    """Rent of all devices over the tokens that they make.

    USD/Mtoken = devices x price an hour / 3600 s / tokens/s x 1e6

    Power, network and storage are in the rent.

    >>> round(usd_per_million_tokens(72, 10.0, 100_000.0), 3)
    2.0
    """
    million = 10.0**6
    return devices * usd_per_h / HOUR_S / tokens_per_s * million
