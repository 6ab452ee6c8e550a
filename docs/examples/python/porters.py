"""A task of several agents in Python: porters who may hand parcels on (docs/python.md).

    pacml train docs/examples/python/porters.yaml --run runs/porters --minutes 0.5
    pacml eval docs/examples/python/porters.yaml --policy runs/porters,baselines
"""

import random


class Porters:
    """Parcels come to one porter after the other, each of a kind that one of them is quick with.
    A porter carries a parcel, or hands it on to the next one, who is asked in turn."""

    globals = ["parcel_is_mine", {"name": "handed_on", "low": 0, "high": 1}]
    actions = 2  # 0: carry it, 1: hand it on
    metrics = [{"name": "hours", "unit": "h", "better": "lower", "decimals": 1}]

    def __init__(self, porters=3, parcels=20):
        self.agents, self.parcels = porters, parcels

    def reset(self, *, seed):
        self.random = random.Random(seed)
        self.done, self.hours, self.porter = 0, 0.0, 0
        self.arrive()
        return self.look(self.porter), self.turn()

    def step(self, action):
        hours = 0.5  # of handing on
        if action == 0:
            hours = 1.0 if self.kind == self.porter else 4.0
            self.done += 1
            self.arrive()
        else:
            self.handed_on += 1
        self.hours += hours
        paid = {porter: -hours / self.agents for porter in range(self.agents)}  # all are one firm
        own = paid.pop(self.porter)
        self.porter = (self.porter + 1) % self.agents
        info = {**self.turn(), "rewards": paid}
        return self.look(self.porter), own, self.done == self.parcels, False, info

    def arrive(self):
        self.kind, self.handed_on = self.random.randrange(self.agents), 0

    def look(self, porter):
        return [self.kind == porter, self.handed_on / self.agents]

    def turn(self):
        # Nobody hands on what everybody else has already had.
        return {"agent": self.porter, "action_mask": [1, self.handed_on < self.agents - 1]}

    def observe_last(self, agent):  # asked where an episode is cut off, which these never are
        return self.look(agent), {}

    def summary(self):
        return {"hours": self.hours}

    def resample_future(self, seed):
        self.random = random.Random(seed)

    def describe(self, action):
        return "hand it on" if action else "carry it"
