from typing import Any, Mapping, Sequence

import gymnasium
import numpy as np
from gymnasium import spaces
from numpy.typing import ArrayLike, NDArray

from pacml import Env, VectorEnv

class Flattener:
    space: spaces.Box
    layout: dict[str, slice]
    def __init__(self, space: spaces.Dict, columns: Sequence[str] | None = ...) -> None: ...
    def __call__(self, observations: Mapping[str, ArrayLike]) -> NDArray[np.float32]: ...

class Flat(gymnasium.ObservationWrapper[NDArray[np.float32], int, Any]):
    flattener: Flattener
    layout: dict[str, slice]
    def __init__(self, env: Env, columns: Sequence[str] | None = ...) -> None: ...
    def observation(self, observation: Mapping[str, ArrayLike]) -> NDArray[np.float32]: ...
    def action_masks(self) -> NDArray[np.bool_]: ...

class FlatVector(gymnasium.vector.VectorWrapper):
    flattener: Flattener
    layout: dict[str, slice]
    def __init__(self, envs: VectorEnv, columns: Sequence[str] | None = ...) -> None: ...

def as_stable_baselines(envs: VectorEnv | FlatVector) -> Any:
    """A stable_baselines3.common.vec_env.VecEnv."""
