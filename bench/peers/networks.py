"""The network of `network.head: candidates` (model/network_config.h) for the peers of compare.py,
over vectors of pacml.wrappers: as many weights, and the same formula."""

import torch
from ray.rllib.core.columns import Columns
from ray.rllib.core.rl_module.apis import ValueFunctionAPI
from ray.rllib.core.rl_module.torch import TorchRLModule
from sb3_contrib.common.maskable.policies import MaskableActorCriticPolicy
from torch import nn


class CandidateNetwork(nn.Module):
    """[N, F] -> logits [N, A], before the mask, and values [N, 1].

    Every candidate goes through the network, and the mask decides afterwards: pacml's kernels look
    at allowed ones alone.
    """

    def __init__(self, layout, actions):
        super().__init__()
        self.layout, self.actions = layout, actions
        width = (layout["derived"].stop - layout["derived"].start) // actions
        situation = layout["situation"].stop - layout["situation"].start
        self.candidate = nn.Sequential(nn.Linear(width, 64), nn.ReLU(), nn.Linear(64, 32), nn.ReLU())
        self.logit = nn.Linear(32, 1, bias=False)
        self.situation = nn.Sequential(nn.Linear(situation, 64), nn.ReLU())
        self.state = nn.Sequential(nn.Linear(64 + 32 + 32, 64), nn.ReLU())
        self.value = nn.Linear(64, 1)

    def forward(self, seen):
        mask = seen[..., self.layout["mask"]].unsqueeze(-1)
        rows = seen[..., self.layout["derived"]].reshape(*seen.shape[:-1], self.actions, -1)
        embedded = self.candidate(rows) * mask
        mean = embedded.sum(-2) / mask.sum(-2).clamp(min=1)
        most = embedded.amax(-2)  # of ReLUs: never below what is masked
        state = torch.cat([self.situation(seen[..., self.layout["situation"]]), mean, most], -1)
        return self.logit(embedded).squeeze(-1), self.value(self.state(state))


class RllibModule(TorchRLModule, ValueFunctionAPI):
    """model_config: {"layout": {column: [begin, end]}}."""

    def setup(self):
        layout = {k: slice(*v) for k, v in self.model_config["layout"].items()}
        self.network = CandidateNetwork(layout, int(self.action_space.n))

    def _forward(self, batch, **kwargs):
        seen = batch[Columns.OBS]
        logits, _ = self.network(seen)
        return {Columns.ACTION_DIST_INPUTS:
                logits.masked_fill(seen[..., self.network.layout["mask"]] < 0.5, -1e9)}

    def compute_values(self, batch, embeddings=None):
        return self.network(batch[Columns.OBS])[1][..., 0]


class _BothHeads(nn.Module):
    """What MaskablePPO calls an extractor: it is the whole network, and nothing comes behind it."""

    def __init__(self, layout, actions):
        super().__init__()
        self.network = CandidateNetwork(layout, actions)
        self.latent_dim_pi, self.latent_dim_vf = actions, 1

    def forward(self, seen):
        return self.network(seen)

    def forward_actor(self, seen):
        return self.network(seen)[0]

    def forward_critic(self, seen):
        return self.network(seen)[1]


class StableBaselinesPolicy(MaskableActorCriticPolicy):
    def __init__(self, *arguments, layout, **options):
        self._layout = layout
        super().__init__(*arguments, ortho_init=False, **options)

    def _build_mlp_extractor(self):
        self.mlp_extractor = _BothHeads(self._layout, int(self.action_space.n))

    def _build(self, lr_schedule):
        super()._build(lr_schedule)
        self.action_net = self.value_net = nn.Identity()
        self.optimizer = self.optimizer_class(self.parameters(), lr=lr_schedule(1),
                                              **self.optimizer_kwargs)
