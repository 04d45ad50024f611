"""What a cluster is asked to do, whoever wrote the file."""

from dataclasses import dataclass


@dataclass(frozen=True, slots=True, kw_only=True)
class Training:
    """Pre-training: one step takes `global_batch` sequences of `sequence` tokens.

    `prediction` counts the layers that predict further tokens (MTP) in.
    """

    global_batch: int
    sequence: int
    precision: str
    prediction: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class Serving:
    """Steady serving of equal requests, `concurrency` in flight for each model replica.

    `concurrency` of 0 means as many as the limits allow, `time_per_output_token_limit_s` of 0 means no limit.
    """

    input_tokens: int
    output_tokens: int
    precision: str
    kv_precision: str
    concurrency: int
    time_per_output_token_limit_s: float
