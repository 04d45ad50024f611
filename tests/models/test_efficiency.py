from dataclasses import replace

import pytest

from rooftree.errors import NotModelled
from rooftree.models.efficiency import kernel_s, width_fraction
from rooftree.models.kernels import Kernel
from rooftree.models.roofline import Work


def work(flops=0.0, moved_bytes=0.0, peak="bf16"):
    return Work(flops=flops, peak=peak, read_bytes=moved_bytes, written_bytes=0.0)


def test_a_product_as_wide_as_the_half_width_reaches_half():
    assert width_fraction(64, 64) == 0.5
    assert width_fraction(192, 64) == 0.75
    assert width_fraction(1, 0) == 1.0


def test_a_wide_product_takes_launch_and_arithmetic_at_its_share(accelerator):
    # 192 wide: 0.5 x 3/4 of 1 PFLOP/s; 3e9 operations take 8 us, the 1 MB take 2 us at half of 1 TB/s
    kernel = Kernel("product", "gemm", work(3e9, 1e6), width=192)
    assert kernel_s(kernel, accelerator) == pytest.approx(1e-6 + 8e-6)


def test_the_share_of_a_product_is_that_of_its_precision(accelerator):
    # 64 wide in FP8: 0.25 x 1/2 of 2 PFLOP/s
    kernel = Kernel("product", "gemm", work(1e9, 0.0, "fp8"), width=64)
    assert kernel_s(kernel, accelerator) == pytest.approx(1e-6 + 4e-6)


def test_a_thin_product_is_bound_by_its_traffic(accelerator):
    kernel = Kernel("product", "gemm", work(1e3, 5e6), width=1)
    assert kernel_s(kernel, accelerator) == pytest.approx(1e-6 + 10e-6)


def test_a_stream_takes_launch_and_traffic(accelerator):
    assert kernel_s(Kernel("norm", "stream", work(0.0, 1e6)), accelerator) == pytest.approx(1e-6 + 2e-6)


def test_a_kernel_without_work_takes_its_launch(accelerator):
    assert kernel_s(Kernel("nothing", "stream", work()), accelerator) == 1e-6


@pytest.mark.parametrize(("phase", "took_s"), [("forward", 4e-6), ("backward", 5e-6), ("decode", 20e-6)])
def test_attention_has_a_share_for_each_phase(accelerator, phase, took_s):
    kernel = Kernel("attention", "attention", work(2e9), phase=phase)
    assert kernel_s(kernel, accelerator) == pytest.approx(1e-6 + took_s)


def test_a_precision_without_a_rate_is_not_modelled(accelerator):
    with pytest.raises(NotModelled, match="chip: precision fp4 is not modelled"):
        kernel_s(Kernel("product", "gemm", work(1.0, 1.0, "fp4"), width=1), accelerator)


def test_a_precision_without_a_fitted_share_is_not_modelled(accelerator):
    fast = replace(accelerator, peak_flops_per_s={**accelerator.peak_flops_per_s, "fp4": 4e15})
    with pytest.raises(NotModelled, match=r"made: has no gemm_fraction\.fp4; add it.*bf16, fp8"):
        kernel_s(Kernel("product", "gemm", work(1.0, 1.0, "fp4"), width=1), fast)


def test_attention_in_an_unknown_phase_is_not_modelled(accelerator):
    with pytest.raises(NotModelled, match=r"made: has no attention_fraction.sideways"):
        kernel_s(Kernel("attention", "attention", work(1.0), phase="sideways"), accelerator)
