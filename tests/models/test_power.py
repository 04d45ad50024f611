from dataclasses import replace

import pytest

from rooftree.models.power import cluster_w


def test_a_rack_by_hand(made):
    # 8 chips at half of 1 kW, 2 hosts of 2 processors of 100 W, 1 kW else, a quarter of 3 switches of 400 W
    power = cluster_w(made, 8, 0.5)
    assert power == pytest.approx(
        {"accelerators": 4000, "hosts": 400, "rack": 1000, "fabric": 300, "site": 0.25 * 5700}
    )


def test_half_a_rack_takes_half_of_all_shares(made):
    whole, half = cluster_w(made, 8, 0.5), cluster_w(made, 4, 0.5)
    assert half == pytest.approx({part: power_w / 2 for part, power_w in whole.items()})


def test_a_chip_never_takes_less_than_idle(made):
    assert cluster_w(made, 8, 0.01)["accelerators"] == 8 * 100


def test_the_limit_of_a_rack_lowers_the_accelerators(made):
    tight = replace(made, rack=replace(made.rack, power_limit_w=5400))
    assert cluster_w(tight, 8, 0.9)["accelerators"] == 5400 - 400 - 1000


def test_a_limit_below_idle_leaves_the_accelerators_idle(made):
    tight = replace(made, rack=replace(made.rack, power_limit_w=1000))
    assert cluster_w(tight, 8, 0.9)["accelerators"] == 800


def test_a_site_without_overhead_takes_nothing(made):
    assert cluster_w(replace(made, site=replace(made.site, pue=1.0)), 8, 0.5)["site"] == 0


def test_the_production_cluster_draws_about_nine_megawatts(azure):
    # 4,608 x 1,260 W + 2,304 processors x 250 W + 64 x 26 kW + 100 switches x 3 kW, and 12 % for the site
    expected = 1.12 * (4608 * 1260 + 64 * 18 * 2 * 250 + 64 * 26e3 + 100 * 3e3)
    rack = azure.rack
    given = (rack.other_w, rack.host.cpu_w, azure.switch.power_w, azure.site.pue, rack.power_limit_w)
    assert given == (26e3, 250, 3e3, 1.12, 136e3)  # else this page of arithmetic is out of date
    assert sum(cluster_w(azure, 4608, 0.9).values()) == pytest.approx(expected)
