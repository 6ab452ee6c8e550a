"""An environment of PettingZoo with several agents, unchanged, as the task of `pacml train`.

    agents_test.py PACML
"""

import sys

from trained import returns_of

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

trained, random = returns_of(sys.argv[1], CONFIG, decisions=120000, seeds=20)
# Costs: how far landmarks are from whoever is nearest.
assert trained > 0.8 * random, (trained, random)
