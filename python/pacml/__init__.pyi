import os
from typing import Any, Callable, Literal, Mapping, Sequence, Union

import gymnasium
import numpy as np
from gymnasium import spaces
from gymnasium.vector import AutoresetMode
from numpy.typing import ArrayLike, NDArray

from pacml._core import Task
from pacml._core import UserError as UserError
from pacml._core import tasks as tasks

Observations = dict[str, NDArray[Any]]
Path = Union[str, os.PathLike[str]]
Config = Union[Path, Mapping[str, Any], None]
Masked = Literal["replace", "error"]

class VectorEnv(gymnasium.vector.VectorEnv[Observations, NDArray[np.int64], NDArray[Any]]):
    graphs: list[dict[str, Any]]
    features: dict[str, tuple[str, ...]]
    single_observation_space: spaces.Dict
    def __init__(
        self,
        task: Task,
        num_envs: int,
        autoreset_mode: AutoresetMode | str = ...,
        copy: bool = ...,
        derived: bool = ...,
        masked: Masked = ...,
    ) -> None: ...
    def reset(
        self,
        *,
        seed: int | Sequence[int | None] | None = ...,
        options: dict[str, Any] | None = ...,
    ) -> tuple[Observations, dict[str, Any]]: ...
    def step(
        self, actions: ArrayLike
    ) -> tuple[
        Observations, NDArray[np.float64], NDArray[np.bool_], NDArray[np.bool_], dict[str, Any]
    ]: ...
    def sample_actions(self) -> NDArray[np.int64]: ...

class Env(gymnasium.Env[Observations, int]):
    graphs: list[dict[str, Any]]
    features: dict[str, tuple[str, ...]]
    def __init__(self, task: Task, derived: bool = ..., masked: Masked = ...) -> None: ...
    def reset(
        self, *, seed: int | None = ..., options: dict[str, Any] | None = ...
    ) -> tuple[Observations, dict[str, Any]]: ...
    def step(self, action: int) -> tuple[Observations, float, bool, bool, dict[str, Any]]: ...
    def action_masks(self) -> NDArray[np.bool_]: ...

def make(
    task: str,
    config: Config = ...,
    *,
    overrides: Sequence[str] = ...,
    profiles: Path = ...,
    derived: bool = ...,
    masked: Masked = ...,
    render_mode: None = ...,
) -> Env: ...
def make_vec(
    task: str,
    config: Config = ...,
    num_envs: int = ...,
    *,
    autoreset_mode: AutoresetMode | str = ...,
    copy: bool = ...,
    overrides: Sequence[str] = ...,
    profiles: Path = ...,
    derived: bool = ...,
    masked: Masked = ...,
    render_mode: None = ...,
) -> VectorEnv: ...

class Policy:
    file: str
    observation_space: spaces.Dict
    def __init__(self, core: Any) -> None: ...
    def act(
        self,
        observations: Mapping[str, ArrayLike],
        deterministic: bool = ...,
        rng: np.random.Generator | None = ...,
    ) -> NDArray[np.int64]: ...
    def log_probabilities(self, observations: Mapping[str, ArrayLike]) -> NDArray[np.float32]: ...
    def probabilities(self, observations: Mapping[str, ArrayLike]) -> NDArray[np.float32]: ...
    def values(self, observations: Mapping[str, ArrayLike]) -> NDArray[np.float32]: ...
    def action_values(self, observations: Mapping[str, ArrayLike]) -> NDArray[np.float32]: ...

def load_policy(
    run: Path, config: Config = ..., *, overrides: Sequence[str] = ..., profiles: Path = ...
) -> Policy: ...
def held_out_seeds(
    config: Config = ...,
    seeds: int = ...,
    *,
    first_seed: int = ...,
    task: str | None = ...,
    overrides: Sequence[str] = ...,
    profiles: Path = ...,
) -> list[int]: ...
def evaluate(
    config: Config = ...,
    policies: Path | Sequence[Path] = ...,
    seeds: int = ...,
    *,
    functions: Mapping[str, Callable[[Observations], ArrayLike]] | None = ...,
    first_seed: int = ...,
    threads: int = ...,
    task: str | None = ...,
    overrides: Sequence[str] = ...,
    profiles: Path = ...,
) -> dict[str, Any]: ...
