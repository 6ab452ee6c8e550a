"""What the package is made of; pacml's own modules are what to use."""

import enum
from typing import Any, Sequence

import numpy as np
from numpy.typing import ArrayLike, NDArray

version: str

class UserError(ValueError): ...

def tasks() -> list[tuple[str, str]]:
    """Every task that there is: (name, description)."""

def held_out_seeds(task: Task, seeds: int, first_seed: int) -> list[int]: ...

class Task:
    name: str
    num_actions: int
    graphs: list[dict[str, Any]]
    metrics: list[str]
    @staticmethod
    def from_file(file: str, overrides: Sequence[str], profiles: str) -> Task: ...
    @staticmethod
    def from_text(text: str, overrides: Sequence[str], profiles: str) -> Task: ...

class Comparison:
    names: list[str]
    def __init__(self, task: Task, policies: Sequence[str], threads: int) -> None: ...
    def evaluate(
        self,
        seeds: int,
        first_seed: int,
        played: Sequence[tuple[str, Sequence[tuple[float, int, Sequence[float]]]]],
    ) -> str: ...

class Autoreset(enum.Enum):
    NEXT_STEP = ...
    SAME_STEP = ...
    DISABLED = ...

class Rng:
    def __init__(self, seed: int) -> None: ...

class EnvBatch:
    layout: list[dict[str, Any]]
    def __init__(
        self, task: Task, size: int, autoreset: Autoreset, derived: bool, strict: bool
    ) -> None: ...
    def seed(self, environment: int, seed: int) -> None: ...
    def set_episode(self, environment: int, episode: int) -> None: ...
    def reset(self, which: NDArray[np.bool_]) -> None: ...
    def step(self, actions: ArrayLike) -> bool: ...  # whether an episode ended
    def sample_actions(self, rng: Rng) -> NDArray[np.int64]: ...
    def observations(self) -> dict[str, NDArray[Any]]: ...
    def final_observations(self) -> dict[str, NDArray[Any]]: ...
    def results(
        self,
    ) -> tuple[
        NDArray[np.float64],
        NDArray[np.bool_],
        NDArray[np.bool_],
        NDArray[np.float32],
        NDArray[np.bool_],
        NDArray[np.bool_],
    ]: ...
    def episodes(self) -> dict[str, NDArray[np.float64]]: ...

class PolicyBatch:
    layout: list[dict[str, Any]]
    learns_values: bool
    has_values: bool
    values_actions: bool
    file: str
    warning: str
    def __init__(self, task: Task, run: str) -> None: ...
    def act(self, observations: dict[str, Any], rng: Rng | None) -> NDArray[np.int64]: ...
    def log_probabilities(self, observations: dict[str, Any]) -> NDArray[np.float32]: ...
    def values(self, observations: dict[str, Any]) -> NDArray[np.float32]: ...
    def action_values(self, observations: dict[str, Any]) -> NDArray[np.float32]: ...
