import pytest

from rooftree.errors import NotModelled
from rooftree.models.roofline import Work, roofline_s


def test_much_arithmetic_is_bound_by_the_peak(accelerator):
    assert roofline_s(Work(flops=2e15, peak="bf16", read_bytes=1e9, written_bytes=1e9), accelerator) == 2.0
    assert roofline_s(Work(flops=2e15, peak="fp8", read_bytes=1e9, written_bytes=1e9), accelerator) == 1.0


def test_much_traffic_is_bound_by_the_memory(accelerator):
    assert roofline_s(Work(flops=1e15, peak="bf16", read_bytes=2e12, written_bytes=1e12), accelerator) == 3.0


def test_traffic_alone_needs_no_peak(accelerator):
    assert roofline_s(Work(flops=0.0, peak="int4", read_bytes=1e12, written_bytes=0.0), accelerator) == 1.0


def test_arithmetic_at_an_unknown_precision_is_not_modelled(accelerator):
    with pytest.raises(NotModelled, match=r"chip: precision int4 is not modelled.*use one of bf16, fp8"):
        roofline_s(Work(flops=1.0, peak="int4", read_bytes=1.0, written_bytes=0.0), accelerator)


def test_works_of_one_precision_add_field_by_field():
    one = Work(flops=1.0, peak="bf16", read_bytes=20.0, written_bytes=300.0)
    other = Work(flops=4.0, peak="bf16", read_bytes=50.0, written_bytes=600.0)
    assert one + other == Work(flops=5.0, peak="bf16", read_bytes=70.0, written_bytes=900.0)
    assert (one + other).moved_bytes == 970.0


def test_work_repeated_is_work_added():
    one = Work(flops=1.0, peak="bf16", read_bytes=20.0, written_bytes=300.0)
    assert one * 3 == one + one + one


def test_works_of_two_precisions_do_not_add():
    one = Work(flops=1.0, peak="bf16", read_bytes=1.0, written_bytes=1.0)
    with pytest.raises(ValueError, match="work at bf16 and at fp8 does not add"):
        one + Work(flops=1.0, peak="fp8", read_bytes=1.0, written_bytes=1.0)


def test_the_worked_number_of_the_page(azure):
    """A product of 8,192 on each side in FP8 takes 220 us at 5 PFLOP/s."""
    side = 8192
    work = Work(flops=2.0 * side**3, peak="fp8", read_bytes=2.0 * side**2, written_bytes=2.0 * side**2)
    assert roofline_s(work, azure.rack.host.accelerator) == pytest.approx(219.9e-6, rel=1e-3)
