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


def tensor(described, rows):
    if described["type"] == "int64":
        return torch.tensor(rows, dtype=torch.int64)
    values = torch.tensor(rows, dtype=torch.float32).reshape(len(rows), described["width"])
    return values > 0 if described["type"] == "bool" else values


def main(path):
    extra = {"metadata.json": "", "reference.json": ""}
    module = torch.jit.load(path, _extra_files=extra)
    metadata = json.loads(extra["metadata.json"])
    assert metadata["config"].startswith("learner:"), metadata
    inputs = json.loads(metadata["inputs"])
    widths = ["num_" + i["name"] for i in inputs if i["type"] == "float32"]
    for described in inputs:
        if described["type"] == "float32":
            assert getattr(module, "num_" + described["name"]) == described["width"]
    reference = json.loads(extra["reference.json"])
    sizes = set()
    for candidate in (module, torch.jit.freeze(module.eval(), preserved_attrs=widths)):
        for case in reference["cases"]:
            logits, values = candidate(*(tensor(i, case[i["name"]]) for i in inputs))
            sizes.add(tuple(len(case[i["name"]]) for i in inputs))
            for ours, expected in ((logits, case["logits"]), (values, case["values"])):
                error = (ours - torch.tensor(expected)).abs().max().item()
                assert ours.shape == torch.tensor(expected).shape
                assert error <= reference["tolerance"], error
    assert len(sizes) >= 3, sizes


main(sys.argv[1])
