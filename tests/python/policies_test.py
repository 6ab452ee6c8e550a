"""Trained policies and evaluations in Python are those of the program.

    policies_test.py PACML
"""

import importlib.util
import json
import os
import pathlib
import subprocess
import sys
import tempfile
import threading
import unittest

import numpy as np

import pacml

REQUIRES = ["numpy", "gymnasium", "pacml"]
PACML = sys.argv[1]
SOURCE = pathlib.Path(os.environ["PACML_SOURCE_DIR"])
CONFIGS = SOURCE / "configs"
EXAMPLES = SOURCE / "docs" / "examples" / "python"
SHORT = "env.cluster.max_simulation_time=100000"


class Policies(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.folder = tempfile.TemporaryDirectory()
        cls.run_folder = os.path.join(cls.folder.name, "run")
        cls.config = str(CONFIGS / "quickstart.yaml")
        subprocess.run(
            [PACML, "train", cls.config, "--run", cls.run_folder, "--decisions", "20000",
             "--set", SHORT, "--set", "learner.evaluate_episodes=2"],
            check=True, stdout=subprocess.DEVNULL)

    @classmethod
    def tearDownClass(cls):
        cls.folder.cleanup()

    def test_an_evaluation_has_the_figures_of_the_program(self):
        out = os.path.join(self.folder.name, "figures.json")
        names = ["para_max", "best_constant", self.run_folder]
        subprocess.run([PACML, "eval", self.config, "--set", SHORT, "--policy", ",".join(names),
                        "--seeds", "3", "--first-seed", "2", "--out", out],
                       check=True, stdout=subprocess.DEVNULL)
        results = pacml.evaluate(self.config, names, 3, first_seed=2, overrides=[SHORT])
        with open(out, encoding="utf-8") as file:
            told = json.load(file)
        origin = told.pop("origin")
        self.assertEqual(origin["config"], self.config)
        self.assertEqual(origin["set"], [SHORT])
        self.assertEqual(origin["first_episode"], 2)
        self.assertEqual(results, told)

    def test_a_function_of_ones_own_plays_the_same_episodes(self):
        policy = pacml.load_policy(self.run_folder)
        sizes = set()

        def act(observations):
            sizes.add(len(observations["mask"]))
            return policy.act(observations)

        # More episodes than are played at once.
        results = pacml.evaluate(self.config, ["best_constant", self.run_folder], 70,
                                 functions={"mine": act}, overrides=[SHORT])
        by_name = {one["name"]: one for one in results["policies"]}
        run, mine = by_name[self.run_folder], by_name["mine"]
        self.assertTrue(mine["learned"])
        self.assertEqual(sizes, {64})
        for key in run:
            if key != "name":
                self.assertEqual(mine[key], run[key], key)

    @unittest.skipUnless(importlib.util.find_spec("onnxruntime"), "onnxruntime is not installed")
    def test_an_exported_policy_comes_to_the_same_in_onnx_runtime(self):
        file = os.path.join(self.folder.name, "policy.onnx")
        subprocess.run([PACML, "export", self.run_folder, "--format", "onnx", "--out", file],
                       check=True, stdout=subprocess.DEVNULL)
        ran = subprocess.run([sys.executable, str(EXAMPLES / "onnx_policy.py"), file, self.config,
                              "--set", SHORT, "--episodes", "4"],
                             check=True, stdout=subprocess.PIPE, text=True)
        results = pacml.evaluate(self.config, [self.run_folder], 4, overrides=[SHORT])
        mean = results["policies"][0]["blocking_rate"]["mean"]
        self.assertIn(f"{file}: blocking_rate {mean:.4f} +- ", ran.stdout)
        self.assertIn("the policy's less that of best_constant:", ran.stdout)

    def test_functions_are_checked(self):
        config = {"config": self.config, "overrides": [SHORT]}
        with self.assertRaisesRegex(pacml.UserError, "functions: must be"):
            pacml.evaluate(**config, functions={"mine": 3})
        with self.assertRaisesRegex(pacml.UserError, "functions: para_max is a policy already"):
            pacml.evaluate(**config, functions={"para_max": len})  # all baselines
        with self.assertRaisesRegex(pacml.UserError, "there is no policy"):
            pacml.evaluate(**config, policies=["no_such"], functions={"mine": lambda _: 1 / 0})
        with self.assertRaisesRegex(pacml.UserError, "is masked|is not in 0"):
            pacml.evaluate(**config, policies=["para_max"], seeds=2, functions={
                "mine": lambda observations: [99] * len(observations["mask"])})

    def test_an_episode_of_an_evaluation_can_be_played_again(self):
        results = pacml.evaluate(self.config, [self.run_folder], 2, overrides=[SHORT])
        episodes = results["policies"][0]["seeds"]
        seeds = pacml.held_out_seeds(self.config, 2, overrides=[SHORT])
        self.assertEqual([one["seed"] for one in episodes], seeds)
        policy = pacml.load_policy(self.run_folder)
        env = pacml.make("partitioning", self.config, overrides=[SHORT])
        for one in (episodes[1], episodes[0]):
            observation, _ = env.reset(options={"episode_seed": one["seed"]})
            over = False
            while not over:
                observation, _, terminated, truncated, info = env.step(
                    int(policy.act(observation)))
                over = terminated or truncated
            self.assertEqual(info["episode"]["r"], one["return"])
            self.assertEqual(info["episode"]["l"], one["decisions"])
        envs = pacml.make_vec("partitioning", self.config, num_envs=2, overrides=[SHORT])
        with self.assertRaisesRegex(pacml.UserError, "episode_seeds: must be 2 seeds"):
            envs.reset(options={"episode_seeds": [1]})

    def test_actions_probabilities_and_values_of_a_batch_agree(self):
        policy = pacml.load_policy(self.run_folder)
        envs = pacml.make_vec("partitioning", self.config, num_envs=4, overrides=[SHORT])
        observations, infos = envs.reset(seed=0)
        for _ in range(100):
            actions = policy.act(observations)
            probabilities = policy.probabilities(observations)
            np.testing.assert_array_equal(actions, probabilities.argmax(axis=1))
            np.testing.assert_allclose(probabilities.sum(axis=1), 1, rtol=1e-5)
            self.assertFalse(probabilities[infos["action_mask"] == 0].any())
            self.assertTrue(np.isfinite(policy.values(observations)).all())
            one = {name: column[1] for name, column in observations.items()}
            self.assertEqual(policy.act(one), actions[1])
            observations, *_, infos = envs.step(actions)

    def test_values_that_were_not_learned_are_refused(self):
        run = os.path.join(self.folder.name, "without_values")
        subprocess.run(
            [PACML, "train", self.config, "--run", run, "--decisions", "4000", "--set", SHORT,
             "--set", "algorithm=reinforce", "--set", "learner.evaluate_episodes=2"],
            check=True, stdout=subprocess.DEVNULL)
        policy = pacml.load_policy(run)
        envs = pacml.make_vec("partitioning", self.config, num_envs=4, overrides=[SHORT])
        observations, _ = envs.reset(seed=0)
        np.testing.assert_allclose(policy.probabilities(observations).sum(axis=1), 1, rtol=1e-5)
        with self.assertRaisesRegex(pacml.UserError, "learned no values"):
            policy.values(observations)

    def test_threads_share_a_policy(self):
        policy = pacml.load_policy(self.run_folder)
        envs = pacml.make_vec("partitioning", self.config, num_envs=16, overrides=[SHORT])
        batches = [envs.reset(seed=seed)[0] for seed in range(4)]
        expected = [policy.log_probabilities(batch) for batch in batches]
        wrong = []

        def ask(batch, answer):
            for _ in range(200):
                if not (np.array_equal(policy.log_probabilities(batch), answer)
                        and np.array_equal(policy.act(batch), answer.argmax(axis=1))):
                    wrong.append(1)

        threads = [threading.Thread(target=ask, args=each) for each in zip(batches, expected)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        self.assertEqual(wrong, [])

    def test_drawn_actions_follow_the_probabilities(self):
        policy = pacml.load_policy(self.run_folder)
        envs = pacml.make_vec("partitioning", self.config, overrides=[SHORT])
        observations, _ = envs.reset(seed=0)
        probabilities = policy.probabilities(observations)[0]
        many = {name: np.repeat(column, 20_000, axis=0) for name, column in observations.items()}
        drawn = policy.act(many, deterministic=False, rng=np.random.default_rng(1))
        shares = np.bincount(drawn, minlength=len(probabilities)) / len(drawn)
        # Five standard deviations of a share; the seed is fixed.
        np.testing.assert_allclose(shares, probabilities, atol=5 * 0.5 / np.sqrt(len(drawn)))

    def test_whatever_the_space_holds_is_decided_or_refused(self):
        policy = pacml.load_policy(self.run_folder)
        envs = pacml.make_vec("partitioning", self.config, overrides=[SHORT])
        observations, _ = envs.reset(seed=0)
        shown = {name: observations[name][0] for name in ("job_graph", "servers_graph")}
        policy.observation_space.seed(1)
        for graphs in ({}, shown):  # few of those that are drawn are graphs of their slots
            decided = 0
            for _ in range(200):
                drawn = {**policy.observation_space.sample(), **graphs}
                try:
                    self.assertEqual(drawn["mask"][policy.act(drawn)], 1)
                    decided += 1
                except pacml.UserError:
                    pass
        self.assertGreater(decided, 0)

    def test_bad_input_is_one_sentence(self):
        policy = pacml.load_policy(self.run_folder)
        envs = pacml.make_vec("partitioning", self.config, overrides=[SHORT])
        observations, _ = envs.reset(seed=0)
        for change, sentence in [
            ({"mask": np.zeros_like(observations["mask"])}, "allows no action"),
            ({"job_graph": np.array([99])}, "job_graph: 99 is not in"),
            ({"job_graph": observations["servers_graph"]}, "job_graph: graph .* not one of this slot"),
            ({"servers_graph": observations["job_graph"]},
             "servers_graph: graph .* not one of this slot"),
            ({"globals": np.zeros((1, 3))}, "another shape"),
            ({"globals": np.full_like(observations["globals"], np.nan)}, "is nan"),
        ]:
            with self.assertRaisesRegex(pacml.UserError, sentence):
                policy.act({**observations, **change})
        with self.assertRaisesRegex(pacml.UserError, "no run"):
            pacml.load_policy("/no/such/run")
        with self.assertRaisesRegex(pacml.UserError, "no_such_policy"):
            pacml.evaluate(self.config, ["no_such_policy"])
        with self.assertRaisesRegex(pacml.UserError, "seeds: must be"):
            pacml.evaluate(self.config, seeds=0)


if __name__ == "__main__":
    unittest.main(argv=sys.argv[:1], verbosity=2)
