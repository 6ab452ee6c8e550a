"""Loads an exported TorchScript policy and compares its outputs with the reference inside it.

Exit code 0: equal within the file's tolerance; 77: torch is not installed; anything else: a fault.
"""

import json
import sys

try:
    import torch
except ImportError:
    sys.exit(77)

torch.set_num_threads(1)


def run(module, case):
    def floats(key, width):
        return torch.tensor(case[key], dtype=torch.float32).reshape(len(case[key]), width)

    def integers(key):
        return torch.tensor(case[key], dtype=torch.int64)

    return module(
        floats("node_features", module.num_node_features),
        floats("edge_features", module.num_edge_features),
        integers("edge_src"),
        integers("edge_dst"),
        integers("node_graph"),
        floats("globals", module.num_globals),
        torch.tensor(case["mask"], dtype=torch.bool),
    )


def main(path):
    extra = {"metadata.json": "", "reference.json": ""}
    module = torch.jit.load(path, _extra_files=extra)
    metadata = json.loads(extra["metadata.json"])
    assert metadata["config"].startswith("learner:"), metadata
    assert int(metadata["globals"]) == module.num_globals
    reference = json.loads(extra["reference.json"])
    sizes = set()
    for candidate in (module, torch.jit.freeze(module.eval(), preserved_attrs=[
            "num_node_features", "num_edge_features", "num_globals"])):
        for case in reference["cases"]:
            logits, values = run(candidate, case)
            sizes.add(len(case["node_features"]))
            for ours, expected in ((logits, case["logits"]), (values, case["values"])):
                error = (ours - torch.tensor(expected)).abs().max().item()
                assert ours.shape == torch.tensor(expected).shape
                assert error <= reference["tolerance"], error
    assert len(sizes) >= 3, sizes


main(sys.argv[1])
