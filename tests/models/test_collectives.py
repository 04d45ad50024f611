import pytest

from rooftree.errors import NotModelled
from rooftree.models import collectives
from rooftree.models.layout import Group

MB = 1e6
RACK, PAIR, SPREAD = Group(8, 8), Group(16, 8), Group(4, 1)


def test_a_ring_inside_a_domain_keeps_the_links_share(up, out):
    assert collectives.ring_bandwidth_bytes_per_s(RACK, up, out) == 50e9


def test_a_ring_across_domains_is_carried_by_the_nics_of_a_domain_together(up, out):
    assert collectives.ring_bandwidth_bytes_per_s(SPREAD, up, out) == 10e9
    assert collectives.ring_bandwidth_bytes_per_s(Group(4, 2), up, out) == 20e9
    assert collectives.ring_bandwidth_bytes_per_s(PAIR, up, out) == 25e9  # scale-up limits it


def test_a_round_of_a_ring_by_hand(up, out):
    # 10 us + 7 steps of 1 us + 7/8 of 8 MB at 50 GB/s = 140 us
    assert collectives.ring_s(8 * MB, RACK, up, out, rounds=1) == pytest.approx(157e-6)
    assert collectives.ring_s(8 * MB, RACK, up, out, rounds=2) == pytest.approx(304e-6)


def test_a_ring_across_domains_takes_the_slow_step_at_each_crossing(up, out):
    # 20 us + 14 steps of 1 us + 1 of 5 us + 15/16 of 16 MB at 25 GB/s = 600 us
    assert collectives.ring_s(16 * MB, PAIR, up, out, rounds=1) == pytest.approx(639e-6)
    # nobody shares a domain: 20 us + 3 steps of 5 us + 3/4 of 4 MB at 10 GB/s = 300 us
    assert collectives.ring_s(4 * MB, SPREAD, up, out, rounds=1) == pytest.approx(335e-6)


def test_a_chain_passes_the_message_once(up, out):
    assert collectives.chain_s(5 * MB, RACK, up, out) == pytest.approx(10e-6 + 7e-6 + 100e-6)


def test_a_tree_takes_the_logarithm_of_the_domains(up, out):
    # 20 us + 2 (2 x 5 us + 7 x 1 us) + 2 x 25 MB at 25 GB/s
    assert collectives.tree_s(25 * MB, Group(32, 8), up, out) == pytest.approx(20e-6 + 34e-6 + 2000e-6)
    assert collectives.tree_s(0, RACK, up, out) == pytest.approx(10e-6 + 14e-6)


def test_switches_take_each_buffer_once(up):
    # 10 us + 2 x 1 us + 9/8 of 8 MB at 40 GB/s = 225 us
    assert collectives.switch_reduce_s(8 * MB, 8, up) == pytest.approx(237e-6)


def test_a_hierarchy_goes_across_with_a_part_of_the_data(up, out):
    inside = 10e-6 + 2 * (7e-6 + 140e-6)  # two rounds of 8 MB among 8
    across = 20e-6 + 2 * (5e-6 + 50e-6)  # two rounds of 1 MB among 2 at 10 GB/s
    assert collectives.hierarchical_s(8 * MB, PAIR, up, out) == pytest.approx(inside + across)


def test_a_hierarchy_of_single_devices_is_a_ring(up, out):
    ring_s = collectives.ring_s(MB, SPREAD, up, out, rounds=2)
    assert collectives.hierarchical_s(MB, SPREAD, up, out) == ring_s


def test_an_all_to_all_is_as_slow_as_its_slower_share(up, out):
    # one domain: 10 + 1 us + 7/8 of 8 MB at 80 GB/s
    assert collectives.all_to_all_s(8 * MB, RACK, up, out) == pytest.approx(11e-6 + 87.5e-6)
    # two: 20 + 5 us + 8/16 of 16 MB at 5 GB/s
    assert collectives.all_to_all_s(16 * MB, PAIR, up, out) == pytest.approx(25e-6 + 1600e-6)


def test_neighbours_send_over_scale_up_only_inside_a_domain(up, out):
    assert collectives.point_to_point_s(MB, RACK, up, out) == pytest.approx(11e-6 + 20e-6)
    assert collectives.point_to_point_s(MB, PAIR, up, out) == pytest.approx(25e-6 + 100e-6)


def test_the_fastest_algorithm_is_chosen_and_the_others_are_told(up, out):
    small = collectives.timing("all_reduce", 8.0, RACK, up, out)
    assert small.algorithm == "nvls"
    assert set(small.alternatives_s) == {"ring", "tree", "nvls"}
    assert small.time_s == min(small.alternatives_s.values())
    wide = collectives.timing("all_reduce", 64 * MB, PAIR, up, out)
    assert (wide.algorithm, set(wide.alternatives_s)) == ("hierarchical", {"ring", "tree", "hierarchical"})


def test_switches_that_do_not_add_are_no_choice(out):
    assert set(collectives.timing("all_reduce", MB, RACK, out, out).alternatives_s) == {"ring", "tree"}


@pytest.mark.parametrize(
    ("op", "algorithm"),
    [("all_gather", "ring"), ("reduce_scatter", "ring"), ("all_to_all", "direct"), ("broadcast", "chain")],
)
def test_the_other_collectives_have_one_algorithm(up, out, op, algorithm):
    assert set(collectives.timing(op, MB, PAIR, up, out).alternatives_s) == {algorithm}


@pytest.mark.parametrize("op", collectives.OPERATIONS)
def test_a_group_of_one_has_nothing_to_send(up, out, op):
    alone = collectives.timing(op, MB, Group(1, 1), up, out)
    assert (alone.time_s, alone.algorithm) == (0.0, "none")
    assert sum(alone.sent_bytes.values()) == 0.0


@pytest.mark.parametrize("group", [Group(8, 8), Group(1, 1)])
def test_an_unknown_collective_is_not_modelled(up, out, group):
    with pytest.raises(NotModelled, match="collective 'all_reduced' is not modelled; did you mean 'all_reduce'"):
        collectives.timing("all_reduced", MB, group, up, out)


@pytest.mark.parametrize(
    ("op", "algorithm", "group", "scale_up", "scale_out"),
    [
        # 16 ranks on a ring of 16 edges, 2 of which leave a domain; each rank sends 15/16 of a message a round
        ("all_reduce", "ring", PAIR, 2 * 15 / 16 * 14 / 16, 2 * 15 / 16 * 2 / 16),
        ("all_gather", "ring", PAIR, 15 / 16 * 14 / 16, 15 / 16 * 2 / 16),
        ("reduce_scatter", "ring", RACK, 7 / 8, 0),
        ("reduce_scatter", "ring", SPREAD, 0, 3 / 4),
        # 15 edges, one of which leaves; the message goes along each once, or up and down
        ("broadcast", "chain", PAIR, 14 / 16, 1 / 16),
        ("all_reduce", "tree", PAIR, 2 * 14 / 16, 2 * 1 / 16),
        # 1/8 of the message goes across twice, less the half that stays
        ("all_reduce", "hierarchical", PAIR, 2 * 7 / 8, 2 * 1 / 2 / 8),
        ("all_reduce", "nvls", RACK, 9 / 8, 0),
        ("all_to_all", "direct", PAIR, 7 / 16, 8 / 16),
    ],
)
def test_what_one_device_sends_by_tier(op, algorithm, group, scale_up, scale_out):
    sent = collectives.sent_by_tier(op, algorithm, 1.0, group)
    assert sent == pytest.approx({"scale_up": scale_up, "scale_out": scale_out})


@pytest.mark.parametrize(
    ("op", "factor"),
    [("all_reduce", 1.75), ("all_gather", 0.875), ("reduce_scatter", 0.875), ("all_to_all", 0.875), ("broadcast", 1.0)],
)
def test_bus_bandwidth_follows_the_convention_of_nccl_tests(op, factor):
    assert collectives.busbw_factor(op, 8) == factor
