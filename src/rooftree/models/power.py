"""Watts of a job, by the simplest sourced model: shares of rated power, added up over the parts."""

from rooftree.facts.hardware import Cluster


def cluster_w(cluster: Cluster, devices: int, fraction: float) -> dict[str, float]:
    """Electric power that `devices` accelerators of a cluster take while they work, by part, with the site's overhead.

    accelerators: devices x rated x fraction; host processors and the rest of the rack: their share by device; switches:
    the fabric's share by device; site: (PUE - 1) x all of these. A rack is held at its power limit by lowering the
    accelerators.

    >>> from rooftree.facts.catalogue import cluster, open_catalogue
    >>> parts_w = cluster_w(cluster(open_catalogue(), "azure-gb300-4608"), 72, 0.9)
    >>> round(parts_w["accelerators"]), round(parts_w["hosts"])
    (90720, 9000)
    """
    rack = cluster.rack
    host, accelerator = rack.host, rack.host.accelerator
    per_rack = rack.hosts * host.accelerators
    racks = devices / per_rack
    hosts_w = racks * rack.hosts * host.cpus * host.cpu_w
    rest_w = racks * rack.other_w
    allowed_w = max(devices * accelerator.idle_w, racks * rack.power_limit_w - hosts_w - rest_w)
    accelerators_w = min(devices * max(accelerator.idle_w, accelerator.peak_w * fraction), allowed_w)
    fabric_w = (cluster.leaves + cluster.spines) * cluster.switch.power_w * racks / cluster.racks
    equipment_w = accelerators_w + hosts_w + rest_w + fabric_w
    return {
        "accelerators": accelerators_w,
        "hosts": hosts_w,
        "rack": rest_w,
        "fabric": fabric_w,
        "site": (cluster.site.pue - 1) * equipment_w,
    }
