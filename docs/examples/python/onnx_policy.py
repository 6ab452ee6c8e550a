#!/usr/bin/env python3
"""An exported policy decides in ONNX Runtime, on the episodes that `pacml eval` plays.

    pacml export runs/q1 --format onnx --out policy.onnx
    onnx_policy.py policy.onnx [CONFIG] [--set KEY=VALUE] [--episodes 20]

Needs `pip install onnxruntime`. For policies with `network.head: candidates` that read no graphs,
such as those of configs/quickstart.yaml, which is CONFIG, and of configs/cluster/.
"""

import argparse
import pathlib

import numpy as np
import onnxruntime

import pacml

QUICKSTART = pathlib.Path(__file__).resolve().parents[3] / "configs" / "quickstart.yaml"


def load(file):
    """The policy of a file, as a function of the observations of several decisions."""
    session = onnxruntime.InferenceSession(file, providers=["CPUExecutionProvider"])
    inputs = [one.name for one in session.get_inputs()]

    def act(observations):
        valid = observations["mask"].astype(bool)  # [N, A]
        decision, action = np.nonzero(valid)       # of each candidate, decision by decision
        shown = {
            "candidate_features": observations["derived"][decision, action],
            "candidate_decision": decision,
            "situation": observations["situation"],
        }
        [logits] = session.run(["logits"], {name: shown[name] for name in inputs})
        padded = np.full(valid.shape, -np.inf, np.float32)
        padded[valid] = logits
        return padded.argmax(axis=1)

    return act


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("policy", metavar="policy.onnx")
    parser.add_argument("config", nargs="?", default=str(QUICKSTART))
    parser.add_argument("--set", action="append", default=[], metavar="KEY=VALUE")
    parser.add_argument("--episodes", type=int, default=20)
    options = parser.parse_args()

    results = pacml.evaluate(options.config, ["best_constant"], options.episodes,
                             functions={options.policy: load(options.policy)},
                             overrides=options.set)
    objective = results["objective"]
    for policy in results["policies"]:
        mean, ci95 = policy[objective]["mean"], policy[objective]["ci95"]
        print(f"{policy['name']}: {objective} {mean:.4f}" + (f" +- {ci95:.4f}" if ci95 else ""))
    difference = results["policies"][-1]["difference"]
    print(f"the policy's less that of {difference['from']}, on the same {difference['episodes']} "
          f"episodes: {difference['mean']:.4f}")


if __name__ == "__main__":
    main()
