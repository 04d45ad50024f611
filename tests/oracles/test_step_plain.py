"""A training step computed the slow way: microbatch by microbatch, layer by layer, rank by rank.

Written from the pages of the models, without their code: every device of a group is placed in its domain, a ring goes
round step by step, and each stage adds up the layers that lie on it.
"""

import math

import pytest

from rooftree.facts.architecture_files import find_architecture
from rooftree.facts.architectures import GroupedQuery
from rooftree.facts.catalogue import cluster, folders, open_catalogue, precision
from rooftree.facts.workloads import Training
from rooftree.models.layout import Layout
from rooftree.models.step import Case, step_times

CATALOGUE = open_catalogue()
BF16 = 2  # bytes


class Plain:
    """One question, and its answer in seconds by part."""

    def __init__(self, case):
        self.model, self.layout, self.workload, self.domain = case.model, case.layout, case.workload, case.domain
        self.chip = case.cluster.rack.host.accelerator
        self.up, self.out, self.stack = case.cluster.rack.scale_up, case.cluster.scale_out, case.cluster.stack
        self.form = case.linear
        self.bytes = case.linear.bits / 8
        self.casts = case.linear.name != "bf16"
        self.tokens = self.layout.microbatch * self.workload.sequence / self.layout.context
        self.times = {}

    def launch(self, part, seconds, repeat):
        self.times[part] = self.times.get(part, 0.0) + repeat * (self.chip.efficiency.launch_s + seconds)

    def traffic(self, moved):
        return moved / (self.chip.memory_bandwidth_bytes_per_s * self.chip.efficiency.memory_fraction)

    def product(self, rows, columns, inner, repeat, *, low=True, weights=None, width=None):
        """A matrix product: rows x inner times inner x columns; `low` in the format of the linear layers."""
        peak, size = (self.form.peak, self.bytes) if low else ("bf16", BF16)
        weights = columns * inner if weights is None else weights
        width = min(rows, columns) if width is None else width
        fit = self.chip.efficiency
        rate = self.chip.peak_flops_per_s[peak] * fit.gemm_fraction[peak] * width / (width + fit.gemm_half_width)
        moved = rows * inner * size + weights * size + rows * columns * BF16
        self.launch("matrix products", max(2 * rows * columns * inner / rate, self.traffic(moved)), repeat)

    def stream(self, values, repeat):
        self.launch("memory-bound kernels", self.traffic(values * BF16), repeat)

    def cast(self, values, repeat):
        if self.casts:
            self.launch("memory-bound kernels", self.traffic(values * (BF16 + self.bytes)), repeat)

    def passes(self):
        """Return how often products run (forward, twice backward, and again if recomputed), and how often streams."""
        recompute = self.layout.recompute
        return 3 + (recompute == "full"), 3 + (recompute != "none")

    def attention(self):
        m, a, t, tp = self.model, self.model.attention, self.tokens, self.layout.tensor
        products, streams = self.passes()
        heads = a.heads / tp
        self.cast(t * m.hidden, streams)
        if isinstance(a, GroupedQuery):
            kv_heads, key, value = max(1, a.kv_heads / tp), a.head_dim, a.head_dim
            self.product(t, (heads + 2 * kv_heads) * a.head_dim, m.hidden, products)
        else:
            kv_heads, key, value = heads, a.nope_dim + a.rope_dim, a.value_dim
            self.product(t, a.query_rank, m.hidden, products)
            self.product(t, heads * key, a.query_rank, products)
            self.product(t, a.kv_rank + a.rope_dim, m.hidden, products)
            self.product(t, heads * (a.nope_dim + a.value_dim), a.kv_rank, products)
        self.cast(t * heads * value, streams)
        self.product(t, m.hidden, heads * value, products)
        flops = 2 * t * self.workload.sequence * heads * (key + value) / 2  # half is masked
        moved = t * BF16 * (heads * key + kv_heads * key + kv_heads * value + heads * value)
        for phase, work, repeat in (("forward", 1, products - 2), ("backward", 2.5, 1)):
            rate = self.chip.peak_flops_per_s["bf16"] * self.chip.efficiency.attention_fraction[phase]
            self.launch("attention", max(work * flops / rate, self.traffic(work * moved)), repeat)

    def dense_mlp(self, width):
        m, t = self.model, self.tokens
        products, streams = self.passes()
        inner, inputs = width / self.layout.tensor, 2 if m.gated else 1
        self.cast(t * m.hidden, streams)
        self.product(t, inputs * inner, m.hidden, products)
        self.stream(t * inputs * inner + t * inner, streams)
        self.cast(t * inner, streams)
        self.product(t, m.hidden, inner, products)

    def experts(self):
        m, e = self.model, self.model.experts
        products, streams = self.passes()
        t = self.tokens / self.layout.tensor
        local, everywhere = e.routed / self.layout.expert, t * self.layout.expert
        rows, inputs = t * e.active, 2 if m.gated else 1
        chosen = local * (1 - (1 - e.active / e.routed) ** everywhere)
        each = max(1, everywhere * e.active / e.routed)
        self.product(t, e.routed, m.hidden, products, low=False)
        self.stream(2 * rows * m.hidden, streams)
        self.cast(rows * m.hidden, streams)
        up, down = inputs * e.width, m.hidden
        self.product(rows, up, m.hidden, products, weights=chosen * up * m.hidden, width=min(each, up))
        self.stream(rows * (inputs + 1) * e.width, streams)
        self.cast(rows * e.width, streams)
        self.product(rows, down, e.width, products, weights=chosen * down * e.width, width=min(each, down))
        self.stream(rows * m.hidden + t * m.hidden, streams)
        if e.shared:
            self.dense_mlp(e.shared * e.width)

    def layer(self, routed):
        _, streams = self.passes()
        for _ in range(2):
            self.stream(4 * self.tokens / self.layout.tensor * self.model.hidden, streams)
        self.attention()
        if routed:
            self.experts()
        else:
            self.dense_mlp(self.model.mlp_width)
        self.talk(routed)

    def head(self):
        m, t, tp = self.model, self.tokens, self.layout.tensor
        self.stream(2 * t / tp * m.hidden, 3)
        self.product(t, m.vocabulary / tp, m.hidden, 3, low=False)
        self.stream(3 * t * m.vocabulary / tp, 3)

    def shared_domain(self, kind):
        """Return the size of a group and the fewest members that one has in a domain, rank by rank."""
        lay = self.layout
        block, groups = lay.tensor * lay.context * lay.data, {}
        for rank in range(lay.devices):
            place, stage = rank % block, rank // block
            label = {
                "tensor": rank // lay.tensor,
                "context": (rank % lay.tensor, rank // (lay.tensor * lay.context)),
                "gradient": (rank % lay.tensor, stage),
                "pipeline": place,
                "expert": (place // lay.expert, stage),
                "expert_data": (place % lay.expert, stage),
            }[kind]
            domains = groups.setdefault(label, {})
            domains[rank // self.domain] = domains.get(rank // self.domain, 0) + 1
        (size,) = {sum(domains.values()) for domains in groups.values()}
        return size, min(min(domains.values()) for domains in groups.values())

    def ring(self, message, kind):
        """Pass a part of the message on, n - 1 times; a step between domains takes the NIC's time."""
        size, local = self.shared_domain(kind)
        domains = math.ceil(size / local)
        rate, seconds = self.up.bandwidth_bytes_per_s * self.up.ring_fraction, self.up.base_s
        if domains > 1:
            nics = local * self.out.bandwidth_bytes_per_s * self.out.ring_fraction
            rate, seconds = min(self.up.bandwidth_bytes_per_s * self.up.cross_fraction, nics), self.out.base_s
        for step in range(1, size):
            seconds += (self.out.step_s if step < domains else self.up.step_s) + message / size / rate
        return seconds

    def exchange(self, message, kind):
        """Send a part to everybody: neighbours in the domain by NVLink while others get theirs by the NIC."""
        size, local = self.shared_domain(kind)
        inside = message / size * (local - 1) / (self.up.bandwidth_bytes_per_s * self.up.all_to_all_fraction)
        if local == size:
            return self.up.base_s + self.up.step_s + inside
        outside = message / size * (size - local) / (self.out.bandwidth_bytes_per_s * self.out.all_to_all_fraction)
        return self.out.base_s + self.out.step_s + max(inside, outside)

    def wait(self, part, kind, seconds):
        self.times[part] = self.times.get(part, 0.0) + seconds * self.stack.exposed[kind]

    def talk(self, routed):
        m, lay = self.model, self.layout
        again = lay.recompute == "full"
        if lay.tensor > 1:
            lone = routed and m.experts.shared == 0  # else: around attention, and around a dense MLP or shared experts
            for _ in range(1 if lone else 2):
                for _ in range(7 if again else 5):
                    self.wait("tensor parallel", "tensor", self.ring(self.tokens * m.hidden * BF16, "tensor"))
        if lay.context > 1:
            a = m.attention
            values = 2 * max(1, a.kv_heads / lay.tensor) * a.head_dim
            for _ in range(4 if again else 3):
                message = lay.microbatch * self.workload.sequence * values * BF16
                self.wait("context parallel", "context", self.ring(message, "context"))
        if routed and lay.expert > 1:
            for _ in range(6 if again else 4):  # dispatch and combine in each pass
                message = self.tokens / lay.tensor * m.experts.active * m.hidden * BF16
                self.wait("expert parallel", "expert", self.exchange(message, "expert"))

    def stage(self, index):
        """Run one microbatch through a stage: its layers, and on the last one the head and what predicts further."""
        self.times = {}
        lay, m = self.layout, self.model
        each = math.ceil(m.layers / (lay.pipeline * lay.interleave)) * lay.interleave
        for number in range(m.layers):
            if min(number // each, lay.pipeline - 1) == index:
                self.layer(m.experts is not None and number >= m.dense_layers)
        if index == lay.pipeline - 1:
            self.head()
            for _ in range(m.prediction_layers if self.workload.prediction else 0):
                self.layer(m.experts is not None)
                self.head()
        return self.times

    def weights(self):
        """Weights of the fullest device: those every device of a tensor group shares, and routed experts."""
        m, a, lay = self.model, self.model.attention, self.layout
        h = m.hidden
        if isinstance(a, GroupedQuery):
            attention = h * a.head_dim * (a.heads + a.kv_heads + a.kv_heads + a.heads)
        else:
            attention = h * a.query_rank + a.query_rank * a.heads * (a.nope_dim + a.rope_dim) + a.query_rank
            attention += h * (a.kv_rank + a.rope_dim) + a.kv_rank + a.kv_rank * a.heads * (a.nope_dim + a.value_dim)
            attention += a.heads * a.value_dim * h
        per_mlp = (3 if m.gated else 2) * h
        layers = math.ceil(m.layers / (lay.pipeline * lay.interleave)) * lay.interleave
        spread = m.vocabulary * h * (2 if lay.pipeline == 1 and not m.tied_embeddings else 1)
        routed = 0
        for _ in range(layers):
            spread += attention + 2 * h
            if m.experts is None:
                spread += per_mlp * m.mlp_width
            else:
                spread += m.experts.routed * h + m.experts.shared * per_mlp * m.experts.width
                routed += m.experts.routed * per_mlp * m.experts.width
        return spread / lay.tensor, routed / lay.expert

    def answer(self):
        lay = self.layout
        microbatches = self.workload.global_batch // (lay.data * lay.microbatch)
        stages = [self.stage(index) for index in range(lay.pipeline)]
        slowest = max(stages, key=lambda times: sum(times.values()))
        if lay.pipeline > 1:
            size, local = self.shared_domain("pipeline")
            link = self.up if local == size else self.out
            sent = self.tokens * self.model.hidden * BF16 / lay.tensor
            hop = link.base_s + link.step_s + sent / (link.bandwidth_bytes_per_s * link.ring_fraction)
            slowest["pipeline transfers"] = 2 * lay.interleave * hop * self.stack.exposed["pipeline"]
        self.times = {}
        for _ in range(microbatches):
            for part, seconds in slowest.items():
                self.times[part] = self.times.get(part, 0.0) + seconds
        self.times["pipeline bubble"] = (lay.pipeline - 1) / lay.interleave * sum(slowest.values())
        size = self.stack.parameter_bytes
        for weights, kind in zip(self.weights(), ("gradient", "expert_data"), strict=True):
            holders, _ = self.shared_domain(kind)
            if holders > 1 and weights:
                for message in (size["gradient"], size["weight"]):
                    self.wait("data parallel", "data", self.ring(weights * message, kind))
            moved = weights / holders * (2 * size["state"] + size["gradient"] + size["weight"])
            self.times["optimizer"] = self.times.get("optimizer", 0.0) + self.traffic(moved)
        return self.times


QUESTIONS = {
    "dense, tensor and pipeline": (
        ("llama-3.1-70b", "azure-gb300-4608", "nvfp4", 64, (128, 8192), False),
        Layout(tensor=4, pipeline=4, data=8, interleave=2),
    ),
    "experts": (
        ("deepseek-v3", "azure-gb300-4608", "mxfp8", 8, (512, 4096), True),
        Layout(tensor=2, pipeline=4, data=32, expert=16, microbatch=2),
    ),
    "recomputed, context": (
        ("llama-3.1-8b", "h100-superpod", "bf16", 8, (6, 32_768), False),
        Layout(tensor=2, context=4, data=3, recompute="full"),
    ),
    "recomputed in part": (
        ("llama-3.1-405b", "h100-superpod", "fp8", 8, (36, 8192), False),
        Layout(tensor=8, pipeline=9, data=2, interleave=7, recompute="selective"),
    ),
}


@pytest.mark.parametrize("question", QUESTIONS)
def test_a_step_is_that_of_the_plain_computation(question):
    (model, on, linear, domain, (batch, sequence), prediction), layout = QUESTIONS[question]
    case = Case(
        model=find_architecture(model, folders(CATALOGUE)),
        layout=layout,
        workload=Training(global_batch=batch, sequence=sequence, precision=linear, prediction=prediction),
        cluster=cluster(CATALOGUE, on),
        linear=precision(CATALOGUE, linear),
        core=precision(CATALOGUE, "bf16"),
        domain=domain,
    )
    expected, found = Plain(case).answer(), step_times(case)
    assert {part for part, time_s in found.items() if time_s} == {part for part, time_s in expected.items() if time_s}
    for part, time_s in expected.items():
        assert found[part] == pytest.approx(time_s, rel=1e-9), part
