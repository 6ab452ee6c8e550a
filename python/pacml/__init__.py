"""Environments, trained policies and evaluations of pacml.

    import pacml

    envs = pacml.make_vec("partitioning", "configs/quickstart.yaml", num_envs=64)
    observations, infos = envs.reset(seed=0)
    policy = pacml.load_policy("runs/a")
    observations, rewards, terminated, truncated, infos = envs.step(policy.act(observations))

    results = pacml.evaluate("configs/quickstart.yaml", ["para_max", "runs/a"], seeds=10)

Importing registers every task with Gymnasium, as "pacml/partitioning-v0" and so on. What a user can
mend is a UserError, a ValueError of one sentence.
"""

import gymnasium

from pacml._core import UserError, tasks
from pacml.environments import Env, VectorEnv, make, make_vec
from pacml.evaluation import evaluate, held_out_seeds
from pacml.policies import Policy, load_policy

__all__ = [
    "Env",
    "Policy",
    "UserError",
    "VectorEnv",
    "evaluate",
    "held_out_seeds",
    "load_policy",
    "make",
    "make_vec",
    "tasks",
]


def _register():
    for name, _ in tasks():
        gymnasium.register(
            f"pacml/{name}-v0",
            entry_point="pacml.environments:make",
            vector_entry_point="pacml.environments:make_vec",
            kwargs={"task": name},
            disable_env_checker=True,
        )


_register()
