"""An environment of PettingZoo with several agents, unchanged, as the task of `pacml train`.

    agents_test.py PACML
"""

import json
import pathlib
import subprocess
import sys
import tempfile

REQUIRES = ["pettingzoo", "mpe2", "numpy"]

# Its agents decide at the same time, and its episodes are cut off.
CONFIG = """
algorithm: ppo
env:
  task: python
  module: mpe2.simple_spread_v3
  make: parallel_env
  settings: {{N: 2, max_cycles: 25}}
  interpreter: {python}
network: {{head: perceptron, perceptron: {{first_width: 64, second_width: 64}}}}
actors: 1
actor: {{environments: 16, unroll_length: 25}}
ppo: {{batch_decisions: 2048, minibatch_decisions: 512, learning_rate: {{kind: constant, start: 1.0e-3}}}}
learner: {{evaluate_episodes: 10, evaluate_seconds: 5}}
supervision: {{silence_seconds: 0}}
"""


def main(pacml):
    with tempfile.TemporaryDirectory() as name:
        folder = pathlib.Path(name)
        config, run, scores = folder / "c.yaml", folder / "run", folder / "e.json"
        config.write_text(CONFIG.format(python=sys.executable), encoding="utf-8")
        train = [pacml, "train", config, "--run", run, "--decisions", "120000"]
        subprocess.run(train, check=True, timeout=600)
        judge = [pacml, "eval", config, "--policy", f"{run},random", "--seeds", "20", "--out", scores]
        subprocess.run(judge, check=True, timeout=300)
        policies = json.loads(scores.read_text(encoding="utf-8"))["policies"]
        returns = {policy["name"]: policy["return"]["mean"] for policy in policies}
        print(returns)
        # Costs: how far landmarks are from whoever is nearest.
        assert returns[str(run)] > 0.8 * returns["random"], returns


main(sys.argv[1])
