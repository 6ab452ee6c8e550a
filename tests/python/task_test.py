"""An environment of Gymnasium, unchanged, as the task of `pacml train` and `pacml eval`.

    task_test.py PACML
"""

import sys

from trained import returns_of

REQUIRES = ["gymnasium", "numpy"]

CONFIG = """
algorithm: ppo
env: {{task: python, module: gymnasium, make: make, settings: {{id: CartPole-v1}}, interpreter: {python}}}
network: {{rounds: 1, message_width: 8, hidden_width: 8, node_width: 8, graph_width: 8, readout_width: 32}}
actors: 1
actor: {{environments: 16, unroll_length: 32}}
ppo: {{batch_decisions: 2048, learning_rate: {{kind: constant, start: 1.0e-3}}}}
learner: {{evaluate_episodes: 5, evaluate_seconds: 5}}
supervision: {{silence_seconds: 0}}
"""

trained, random = returns_of(sys.argv[1], CONFIG, decisions=100000, seeds=10)
# Random play balances the pole for some 20 steps.
assert trained > 2 * random, (trained, random)
