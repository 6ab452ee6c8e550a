"""The VecEnv of Stable-Baselines3: seeds, masks, what it is told at the end of an episode."""

import os
import pathlib
import sys
import unittest

import numpy as np
from sb3_contrib.common.maskable.utils import get_action_masks, is_masking_supported

import pacml
from pacml.wrappers import FlatVector, as_stable_baselines

REQUIRES = ["numpy", "gymnasium", "pacml", "stable_baselines3", "sb3_contrib"]
CONFIGS = pathlib.Path(os.environ["PACML_SOURCE_DIR"]) / "configs"
SHORT = ["env.cluster.max_simulation_time=40000"]


def inner(**options):
    return pacml.make_vec("partitioning", CONFIGS / "quickstart.yaml", 3, overrides=SHORT,
                          autoreset_mode="SameStep", **options)


class StableBaselines(unittest.TestCase):
    def test_it_plays_the_course_of_the_environments_inside(self):
        envs = as_stable_baselines(FlatVector(inner()))
        alone = FlatVector(inner())
        envs.seed(7)
        seen = envs.reset()
        expected, infos = alone.reset(seed=7)
        ends = 0
        self.assertTrue(is_masking_supported(envs))
        for _ in range(120):
            np.testing.assert_array_equal(seen, expected)
            np.testing.assert_array_equal(get_action_masks(envs), infos["action_mask"] == 1)
            actions = alone.env.sample_actions()
            seen, rewards, over, told = envs.step(actions)
            expected, own_rewards, terminated, truncated, infos = alone.step(actions)
            np.testing.assert_array_equal(rewards, own_rewards)
            np.testing.assert_array_equal(over, terminated | truncated)
            for i in np.flatnonzero(over):
                np.testing.assert_array_equal(told[i]["terminal_observation"], infos["final_obs"][i])
                self.assertEqual(told[i]["TimeLimit.truncated"], truncated[i])
                self.assertEqual(told[i]["episode"]["l"], infos["episode"]["l"][i])
                ends += 1
        self.assertGreater(ends, 0)

    def test_a_dictionary_of_columns_is_passed_on(self):
        envs = as_stable_baselines(inner())
        envs.seed(1)
        seen = envs.reset()
        self.assertIn({name: column[0] for name, column in seen.items()}, envs.observation_space)

    def test_observations_stay_what_they_were_where_the_environments_inside_show_views(self):
        def course(copies, wrap=lambda envs: envs):
            made = inner(copy=copies)
            envs = as_stable_baselines(wrap(made))
            envs.seed(5)
            kept = [envs.reset()]
            for _ in range(30):
                kept.append(envs.step(made.sample_actions())[0])
            return kept

        for seen, expected in zip(course(False), course(True)):
            for name, column in expected.items():
                np.testing.assert_array_equal(seen[name], column)
        np.testing.assert_array_equal(course(False, FlatVector), course(True, FlatVector))

    def test_what_they_do_not_share_is_refused(self):
        envs = as_stable_baselines(inner())
        with self.assertRaisesRegex(AttributeError, "only action_masks"):
            envs.env_method("render")
        with self.assertRaisesRegex(AttributeError, "share attributes"):
            envs.set_attr("copy", True)


if __name__ == "__main__":
    unittest.main(argv=sys.argv[:1], verbosity=2)
