"""Flat observations: what stands where, in single environments and vectors; bad input."""

import os
import pathlib
import sys
import unittest
import warnings

import gymnasium
import numpy as np
from gymnasium import spaces
from gymnasium.utils.env_checker import check_env

import pacml
from pacml.wrappers import Flat, Flattener, FlatVector, as_stable_baselines

REQUIRES = ["numpy", "gymnasium", "pacml"]
CONFIGS = pathlib.Path(os.environ["PACML_SOURCE_DIR"]) / "configs"
SHORT = ["env.cluster.max_simulation_time=40000"]
QUICKSTART = CONFIGS / "quickstart.yaml"


def vec(num_envs=3, **options):
    return pacml.make_vec("partitioning", QUICKSTART, num_envs, overrides=SHORT, **options)


class Wrappers(unittest.TestCase):
    def test_a_vector_holds_every_column_where_its_layout_says(self):
        envs = vec()
        flat = FlatVector(vec())
        observations, _ = envs.reset(seed=3)
        vectors, infos = flat.reset(seed=3)
        for _ in range(50):
            self.assertIn(vectors, flat.observation_space)
            self.assertEqual(flat.layout["mask"].start, 0)
            for name in ("mask", "situation", "derived"):
                np.testing.assert_array_equal(vectors[:, flat.layout[name]],
                                              observations[name].reshape(3, -1))
            actions = envs.sample_actions()
            observations, *_ = envs.step(actions)
            vectors, *_, infos = flat.step(actions)
            np.testing.assert_array_equal(vectors[:, flat.layout["mask"]], infos["action_mask"])
        self.assertEqual(sum(s.stop - s.start for s in flat.layout.values()), vectors.shape[1])

    def test_what_is_one_of_few_is_one_hot(self):
        envs = vec()
        flat = FlatVector(vec(), columns=["job_graph"])
        observations, _ = envs.reset(seed=1)
        vectors, _ = flat.reset(seed=1)
        np.testing.assert_array_equal(vectors[:, flat.layout["job_graph"]].argmax(axis=1),
                                      observations["job_graph"])
        self.assertTrue((vectors[:, flat.layout["job_graph"]].sum(axis=1) == 1).all())

    def test_a_single_environment_passes_gymnasiums_checker_and_is_a_row_of_the_vector(self):
        single = Flat(pacml.make("partitioning", QUICKSTART, overrides=SHORT))
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            check_env(single, skip_render_check=True)
        flat = FlatVector(vec())
        vectors, infos = flat.reset(seed=5)
        row, _ = single.reset(seed=6)
        np.testing.assert_array_equal(vectors[1], row)
        np.testing.assert_array_equal(single.action_masks(), infos["action_mask"][1] == 1)
        wrapped = Flat(gymnasium.make("pacml/partitioning-v0", config=QUICKSTART, overrides=SHORT))
        wrapped.reset(seed=6)
        np.testing.assert_array_equal(wrapped.action_masks(), single.action_masks())

    def test_the_end_of_an_episode_is_flat_too(self):
        flat = FlatVector(vec(autoreset_mode="SameStep"))
        flat.reset(seed=1)
        ends = 0
        for _ in range(200):
            *_, infos = flat.step(flat.env.sample_actions())
            for i in np.flatnonzero(infos.get("_final_obs", [])):
                self.assertIn(infos["final_obs"][i], flat.single_observation_space)
                ends += 1
        self.assertGreater(ends, 0)

    def test_bad_input_is_one_sentence(self):
        nodes = spaces.Dict({"mask": spaces.MultiBinary(2), "candidate_nodes": spaces.MultiDiscrete([9, 9])})
        for attempt, sentence in [
            (lambda: FlatVector(vec(), columns=["globalz"]), "there is no 'globalz' here"),
            (lambda: FlatVector(vec(derived=False), columns=["derived"]), "no 'derived' here"),
            (lambda: Flattener(nodes, ["candidate_nodes"]), "names nodes of a graph"),
            (lambda: as_stable_baselines(pacml.make("partitioning")), "what pacml.make_vec made"),
            (lambda: as_stable_baselines(vec()), 'autoreset_mode="SameStep"'),
        ]:
            with self.assertRaisesRegex(pacml.UserError, sentence):
                attempt()


if __name__ == "__main__":
    unittest.main(argv=sys.argv[:1], verbosity=2)
