"""rooftree: a digital twin, planner and control plane for rack-scale AI clusters."""

__version__ = "0.1.0"
