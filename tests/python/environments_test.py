"""Environments in Python: Gymnasium's own checker, autoreset modes, masks, seeds, bad input."""

import os
import pathlib
import sys
import tempfile
import threading
import unittest
import warnings

import gymnasium
import numpy as np
from gymnasium.utils.env_checker import check_env
from gymnasium.vector import AutoresetMode

import pacml

REQUIRES = ["numpy", "gymnasium", "pacml"]
CONFIGS = pathlib.Path(os.environ["PACML_SOURCE_DIR"]) / "configs"
# Short episodes of every task, and of both ways in which partitioning shows a decision.
SHORT = ["env.cluster.max_simulation_time=40000", "env.workload.interarrival={kind: fixed, value: 1000}"]
TASKS = [
    ("partitioning", None, SHORT),
    ("partitioning", CONFIGS / "quickstart.yaml", SHORT),
    ("placement_shaping", CONFIGS / "placement_shaping/joint_a.yaml", SHORT),
    ("device_placement", CONFIGS / "placement/families.yaml", []),
]


def vec(case=TASKS[0], num_envs=3, **options):
    task, config, overrides = case
    return pacml.make_vec(task, config, num_envs, overrides=overrides, **options)


def episode_lengths(envs, steps):
    """Decisions of the episodes that end within so many steps, by environment."""
    lengths = [[] for _ in range(envs.num_envs)]
    for _ in range(steps):
        *_, infos = envs.step(envs.sample_actions())
        for i in np.flatnonzero(infos.get("_episode", [])):
            lengths[i].append(infos["episode"]["l"][i])
    return lengths


class Environments(unittest.TestCase):
    def test_every_task_passes_gymnasiums_checker(self):
        for task, config, overrides in TASKS:
            with self.subTest(task=task, config=config), warnings.catch_warnings():
                warnings.simplefilter("error", UserWarning)
                # Graphs and features without a known range are what they are.
                warnings.filterwarnings("ignore", ".*(infinity|inf|Box).*")
                env = gymnasium.make(f"pacml/{task}-v0", config=config, overrides=overrides)
                check_env(env.unwrapped, skip_render_check=True)

    def test_observations_of_vector_environments_are_in_their_space(self):
        for case in TASKS:
            with self.subTest(case=case):
                envs = vec(case)
                observations, infos = envs.reset(seed=1)
                for _ in range(50):
                    self.assertIn(observations, envs.observation_space)
                    self.assertTrue(infos["action_mask"].any(axis=1).all())
                    observations, rewards, terminated, truncated, infos = envs.step(
                        envs.sample_actions())
                    self.assertEqual(rewards.dtype, np.float64)
                    self.assertEqual((terminated.dtype, truncated.dtype), (bool, bool))
                    self.assertFalse(infos["replaced"].any())

    def test_what_a_network_reads_is_zero_for_actions_that_are_masked(self):
        envs = vec(TASKS[1])
        observations, _ = envs.reset(seed=1)
        masked_ones = 0
        for _ in range(30):
            masked = observations["mask"] == 0
            masked_ones += masked.sum()
            self.assertFalse(observations["derived"][masked].any())
            self.assertTrue(observations["derived"][~masked].any(axis=-1).all())
            observations, *_ = envs.step(envs.sample_actions())
        self.assertGreater(masked_ones, 0)

    def test_a_row_of_a_vector_is_the_single_environment_of_its_seed(self):
        envs = vec(autoreset_mode=AutoresetMode.SAME_STEP)
        single = pacml.make("partitioning", overrides=SHORT)
        rows, _ = envs.reset(seed=5)
        row, _ = single.reset(seed=7)
        for _ in range(120):
            for key, value in row.items():
                np.testing.assert_array_equal(rows[key][2], value)
            actions = envs.sample_actions()
            rows, rewards, terminated, *_ = envs.step(actions)
            row, reward, ended, cut, _ = single.step(actions[2])
            self.assertEqual(rewards[2], reward)
            self.assertEqual(terminated[2], ended)
            if ended or cut:
                row, _ = single.reset()

    def test_the_next_step_after_an_episode_begins_another_one(self):
        envs = vec()
        envs.reset(seed=1)
        over = np.zeros(3, bool)
        seen = 0
        for _ in range(150):
            _, rewards, terminated, truncated, infos = envs.step(envs.sample_actions())
            self.assertTrue((infos["elapsed"][over] == 0).all())
            self.assertTrue((rewards[over] == 0).all())
            self.assertFalse((terminated | truncated)[over].any())
            over = terminated | truncated
            seen += over.sum()
        self.assertGreater(seen, 3)

    def test_a_new_episode_begins_in_the_same_step_and_the_old_ones_end_is_kept(self):
        envs = vec(autoreset_mode=AutoresetMode.SAME_STEP)
        envs.reset(seed=1)
        seen = 0
        for _ in range(150):
            *_, terminated, truncated, infos = envs.step(envs.sample_actions())
            over = terminated | truncated
            np.testing.assert_array_equal(infos.get("_final_obs", np.zeros(3, bool)), over)
            for i in np.flatnonzero(over):
                self.assertIn(infos["final_obs"][i], envs.single_observation_space)
                seen += 1
        self.assertGreater(seen, 3)

    def test_without_autoreset_an_environment_waits_until_it_is_reset(self):
        envs = vec(autoreset_mode=AutoresetMode.DISABLED)
        envs.reset(seed=1)
        over = np.zeros(3, bool)
        while not over.any():
            *_, terminated, truncated, _ = envs.step(envs.sample_actions())
            over = terminated | truncated
        with self.assertRaisesRegex(pacml.UserError, "call reset first"):
            envs.step(envs.sample_actions())
        envs.reset(options={"reset_mask": over})
        envs.step(envs.sample_actions())

    def test_the_same_seed_is_the_same_course_whatever_the_mode(self):
        def course(mode):
            envs = vec(autoreset_mode=mode)
            envs.reset(seed=3)
            return episode_lengths(envs, 200)

        first = course(AutoresetMode.SAME_STEP)
        self.assertEqual(first, course(AutoresetMode.SAME_STEP))
        self.assertTrue(all(first))

    def test_copies_stay_and_views_follow(self):
        for copy in (True, False):
            envs = vec(copy=copy)
            before, _ = envs.reset(seed=1)
            kept = before["globals"].copy()
            after, *_ = envs.step(envs.sample_actions())
            self.assertFalse(np.array_equal(kept, after["globals"]))
            self.assertEqual(np.shares_memory(before["globals"], after["globals"]), not copy)
            np.testing.assert_array_equal(before["globals"], kept if copy else after["globals"])

    def test_views_outlive_their_environments(self):
        envs = vec(copy=False)
        observations, _ = envs.reset(seed=1)
        kept = observations["globals"].copy()
        del envs
        np.testing.assert_array_equal(observations["globals"], kept)

    def test_a_masked_action_is_replaced_or_refused(self):
        for masked in ("replace", "error"):
            envs = vec(masked=masked)
            observations, _ = envs.reset(seed=1)
            forbidden = np.argmin(observations["mask"], axis=1)
            self.assertFalse(np.take_along_axis(observations["mask"], forbidden[:, None], 1).any())
            if masked == "replace":
                *_, infos = envs.step(forbidden)
                self.assertTrue(infos["replaced"].all())
            else:
                with self.assertRaisesRegex(pacml.UserError, "is masked"):
                    envs.step(forbidden)

    def test_environments_are_stepped_by_several_threads(self):
        lengths = [None] * 3
        alone = vec(num_envs=4)
        alone.reset(seed=9)
        expected = episode_lengths(alone, 200)

        def work(t):
            envs = vec(num_envs=4)
            envs.reset(seed=9)
            lengths[t] = episode_lengths(envs, 200)

        threads = [threading.Thread(target=work, args=(t,)) for t in range(3)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        self.assertEqual(lengths, [expected] * 3)

    def test_whoever_writes_into_a_view_does_not_change_what_may_be_taken(self):
        for written in (0, 1):
            envs = vec(TASKS[0], copy=False)
            observations, infos = envs.reset(seed=1)
            allowed = envs.sample_actions()
            observations["mask"][:] = written
            infos["action_mask"][:] = written
            *_, infos = envs.step(allowed)
            self.assertFalse(infos["replaced"].any())
            observations["mask"][:] = written
            envs.step(np.zeros(3, np.int64))

    def test_two_threads_are_told_that_they_share_environments(self):
        envs = vec(num_envs=64)
        envs.reset(seed=1)
        refused = []

        def play():
            for _ in range(300):
                try:
                    envs.step(envs.sample_actions())
                except pacml.UserError as error:
                    refused.append(str(error))

        threads = [threading.Thread(target=play) for _ in range(4)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        # Whether they meet is chance; that nothing breaks is not.
        for sentence in refused:
            self.assertRegex(sentence, "another thread|is masked")
        envs.reset(seed=1)
        envs.step(envs.sample_actions())

    def test_environments_without_a_seed_of_their_own_differ(self):
        envs = vec(TASKS[1])
        for seeds in ([None, None, None], [5, None, None]):
            fresh = vec(TASKS[1])
            observations, _ = fresh.reset(seed=seeds)
            shown = [observations["derived"][i].tobytes() for i in range(3)]
            for _ in range(20):
                observations, *_ = fresh.step(np.zeros(3, np.int64))
                shown = [a + observations["derived"][i].tobytes() for i, a in enumerate(shown)]
            self.assertEqual(len(set(shown)), 3, seeds)
        envs.reset(seed=7)
        self.assertEqual(envs.np_random_seed, 7)
        first = envs.sample_actions()
        envs.reset(seed=[None, None, None])  # goes on, drawing included
        envs.reset(seed=7)
        np.testing.assert_array_equal(envs.sample_actions(), first)

    def test_what_is_closed_is_closed(self):
        envs = vec()
        observations, _ = envs.reset(seed=1)
        envs.close()
        with self.assertRaisesRegex(pacml.UserError, "closed"):
            envs.step([0, 0, 0])
        self.assertTrue(observations["mask"].any())
        env = pacml.make("partitioning", overrides=SHORT)
        env.close()
        with self.assertRaisesRegex(pacml.UserError, "closed"):
            env.reset(seed=1)

    def test_a_failed_step_leaves_environments_that_wait_for_a_reset(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        file = pathlib.Path(folder.name) / "task.py"
        file.write_text(
            "class T:\n    globals = ['x']\n    actions = 2\n"
            "    def reset(self, *, seed):\n        self.n = 0\n        self.seed = seed\n"
            "        return {'globals': [0.0], 'mask': [1, 0]}, {}\n"
            "    def step(self, action):\n        self.n += 1\n"
            "        if self.n == 2 and self.seed % 2: raise RuntimeError('no more')\n"
            "        mask = [0, 1] if self.n % 2 else [1, 0]\n"
            "        return {'globals': [self.n], 'mask': mask}, 1.0, False, False, {}\n")
        config = {"env": {"file": file, "make": "T", "interpreter": sys.executable}}
        envs = pacml.make_vec("python", config, 8)
        for seed in range(40):
            envs.reset(seed=[seed] * 8)
            envs.step(envs.sample_actions())
            try:
                envs.step(envs.sample_actions())
            except pacml.UserError as error:
                self.assertIn("no more", str(error))
                break
        else:
            self.fail("no seed of an episode was odd")
        with self.assertRaisesRegex(pacml.UserError, "reset"):
            envs.step(np.zeros(8, np.int64))
        with self.assertRaisesRegex(pacml.UserError, "all of them"):
            envs.reset(options={"reset_mask": np.arange(8) == 1})
        envs.reset(seed=1)
        envs.step(envs.sample_actions())

    def test_environments_whose_interpreter_has_died_are_made_anew_by_a_reset(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        file, sign = pathlib.Path(folder.name) / "task.py", pathlib.Path(folder.name) / "die"
        file.write_text(
            "import os\nclass T:\n    globals = ['x']\n    actions = 2\n"
            "    def reset(self, *, seed):\n        return [0.0], {}\n"
            f"    def step(self, action):\n        if os.path.exists({str(sign)!r}): os._exit(5)\n"
            "        return [1.0], 1.0, False, False, {}\n")
        config = {"env": {"file": file, "make": "T", "interpreter": sys.executable}}
        envs, single = pacml.make_vec("python", config, 2), pacml.make("python", config)
        for reset, step in [(envs.reset, lambda: envs.step(np.zeros(2, np.int64))),
                            (single.reset, lambda: single.step(0))]:
            reset(seed=1)
            sign.touch()
            with self.assertRaisesRegex(pacml.UserError, "ended with code 5"):
                step()
            sign.unlink()
            with self.assertRaisesRegex(pacml.UserError, "call reset first"):
                step()
            observations, _ = reset()
            self.assertFalse(observations["globals"].any())
            observations, *_ = step()
            self.assertTrue(observations["globals"].all())

    def test_every_task_can_be_made_by_its_name_alone(self):
        for name, _ in pacml.tasks():
            if name == "python":  # needs a file
                continue
            with self.subTest(task=name):
                try:
                    env = gymnasium.make(f"pacml/{name}-v0")
                except pacml.UserError as error:
                    self.assertIn("agents", str(error))
                    continue
                env.reset(seed=1)

    def test_graphs_are_those_that_observations_name(self):
        envs = vec(TASKS[3])
        observations, _ = envs.reset(seed=1)
        slot = next(key for key in observations if key.endswith("_graph"))
        graph = envs.graphs[observations[slot][0]]
        self.assertLess(graph["edges"].max(), len(graph["nodes"]))
        self.assertEqual(graph["edges"].shape[1], len(graph["edge_features"]))

    def test_bad_input_is_one_sentence(self):
        envs = vec()
        for attempt, sentence in [
            (lambda: pacml.make("no_such_task"), "no_such_task"),
            (lambda: pacml.make("device_placement", CONFIGS / "quickstart.yaml"),
             "is about the task partitioning"),
            (lambda: pacml.make("partitioning", "/no/such/file.yaml"), "/no/such/file.yaml"),
            (lambda: pacml.make("partitioning", {"env": {"rampp": 1}}), "rampp"),
            (lambda: pacml.make("cluster_scheduling", CONFIGS / "gpu_cluster/small16.yaml"),
             "agents that decide in turns"),
            (lambda: pacml.make("partitioning", masked="perhaps"), "perhaps"),
            (lambda: pacml.make_vec("partitioning", num_envs=0), "at least 1"),
            (lambda: envs.step(np.zeros(3, int)), "call reset first"),
            (lambda: envs.reset(seed=[1, 2]), "or 3 of them"),
            (lambda: envs.reset(seed=-1), "is not in 0"),
            (lambda: envs.reset(seed="123"), "seed"),
            (lambda: envs.reset(seed=1.5), "seed"),
            (lambda: envs.reset(seed=[1, 2, 3.5]), "seed: must be a whole number"),
            (lambda: pacml.make("partitioning").reset(seed=1.5), "seed: must be a whole number"),
            (lambda: pacml.make_vec("partitioning", num_envs=True), "num_envs"),
            (lambda: pacml.make("partitioning", render_mode="human"), "render_mode"),
            (lambda: pacml.make("partitioning", overrides="env.nonsense=1"), "nonsense"),
            (lambda: pacml.make("partitioning", overrides="envv.ramp=1"), "envv.*did you mean 'env'"),
            (lambda: pacml.make("partitioning", {"env": {"x": object()}}), "no number, text"),
            (lambda: pacml.make("partitioning", {"env": {"profiles": "/no/such \u00e9\U0001f600"}}),
             "/no/such \u00e9\U0001f600: no such folder"),
            (lambda: pacml.make("partitioning",
                                {"env": {"cluster": {"max_simulation_time": float("inf")}}}),
             "inf makes an episode without end"),
        ]:
            with self.assertRaisesRegex(pacml.UserError, sentence):
                attempt()
        envs.reset(seed=0)
        with self.assertRaisesRegex(ValueError, "action 1000 of environment 1"):
            envs.step([0, 1000, 0])
        with self.assertRaisesRegex(ValueError, "3 entries"):
            envs.step([0, 0])
        for actions in ([1.7, 0.2, 3.9], ["1", "2", "3"], [1j, 0, 0]):
            with self.assertRaisesRegex(pacml.UserError, "must be integers"):
                envs.step(actions)
        env = pacml.make("partitioning", overrides=SHORT)
        env.reset(seed=1)
        with self.assertRaisesRegex(pacml.UserError, "must be integers"):
            env.step(1.9)


if __name__ == "__main__":
    unittest.main(argv=sys.argv[:1], verbosity=2)
