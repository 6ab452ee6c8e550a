#!/usr/bin/env python3
"""`pacml launch --on slurm` on a real Slurm cluster of four virtual nodes.

    slurm_test.py BIN [--log FILE]    BIN has pacml and pacml-learner; FILE: what happened, in short

A learner and four actors train; with PACML_LONG_TESTS=1, a node with actors dies and its tasks start
again on another; the learner is warned as before its time limit, checkpoints, is requeued and goes on, and the actors come
back to it; then it is stopped in order and everything ends with exit code 0. Another run has two learners, which take their
updates together.
"""

import json
import os
import pathlib
import subprocess
import sys
import time

HERE = pathlib.Path(__file__).resolve().parent
sys.path.insert(0, str(HERE.parents[1] / "support"))
from cluster import Cluster, missing
from soon import wait_until

ACTORS = 4


class Run:
    def __init__(self, cluster, programs, log, name="run", settings=()):
        self.cluster = cluster
        self.folder = cluster.folder / name
        self.log_file = log
        self.pending = {}  # job -> since when
        self.started = time.monotonic()
        self.answer = cluster.ask(
            str(programs / "pacml"), "launch", str(HERE / "tiny.yaml"), "--run", str(self.folder),
            "--on", "slurm", "--actors", str(ACTORS), "--site-set", "learner={cpus: 2, memory_mib: 1000}", "--site-set", "slurm.time_limit=30",
            "--site-set", "slurm.warning_seconds=20", "--site-set", "slurm.ask_seconds=5", *settings)
        words = self.answer.split()
        self.learner = words[2].rstrip(";")
        self.array = words[words.index("array") + 1]
        self.say(f"pacml launch --on slurm --actors {ACTORS} {' '.join(settings)}".rstrip())
        self.say(self.answer.splitlines()[0])

    def say(self, text):
        line = f"{time.monotonic() - self.started:6.1f} s  {text}"
        print(line, flush=True)
        if self.log_file:
            with open(self.log_file, "a") as log:
                log.write(line + "\n")

    def metrics(self):
        try:
            lines = (self.folder / "metrics.jsonl").read_text().split("\n")[:-1]
        except FileNotFoundError:
            return {"decisions": 0, "actors": 0}
        return json.loads(lines[-1]) if lines else {"decisions": 0, "actors": 0}

    def own_jobs(self):
        """All of them: Slurm forgets none for as long as this test takes."""
        names = {self.learner} | {f"{self.array}_{actor}" for actor in range(ACTORS)}
        jobs = {job: where for job, where in self.cluster.jobs().items() if job in names}
        assert jobs.keys() == names, f"{sorted(names)} should be known, not {sorted(jobs)}"
        return jobs

    def tasks(self):
        return {job: where for job, where in self.cluster.jobs().items()
                if job.startswith(self.array + "_")}

    def hurry(self):
        """Slurm lets what it requeued wait for two minutes, so that what is left of the former life
        is over; some seconds do."""
        now = time.monotonic()
        pending = {job for job, (state, _) in self.cluster.jobs().items() if state == "PENDING"}
        self.pending = {job: self.pending.get(job, now) for job in pending}
        for job, since in self.pending.items():
            if now - since > 5:
                self.cluster.hurry(job)

    def wait_for(self, what, holds):
        wait_until(what, holds, meanwhile=self.hurry)

    def goes_on(self):
        before = self.metrics()["decisions"]
        self.wait_for("decisions come in", lambda: self.metrics()["decisions"] > before + 2000)

    def trains_with(self, actors):
        """Once the learner, perhaps in a new life, has said so since now."""
        file = self.folder / "metrics.jsonl"
        size = file.stat().st_size if file.exists() else 0
        self.wait_for(f"{actors} actors are there",
                      lambda: file.exists() and file.stat().st_size > size
                      and self.metrics()["actors"] == actors)
        self.goes_on()
        self.say(f"{self.metrics()['actors']} actors, {self.metrics()['decisions']} decisions")

    def where(self):
        jobs = self.cluster.jobs()
        return ", ".join(f"{job} {state.lower()} {node}".rstrip()
                         for job, (state, node) in sorted(jobs.items()))

    def detail(self, job, key):
        words = self.cluster.ask("scontrol", "show", "job", job).split()
        return next(word.split("=", 1)[1] for word in words if word.startswith(key + "="))


def loses_a_node(run):
    nodes = {node for state, node in run.tasks().values() if state == "RUNNING"}
    learner_node = run.cluster.jobs()[run.learner][1]
    assert len(nodes | {learner_node}) >= 2, "the run should be spread over nodes"
    victim = sorted(nodes - {learner_node})[0]
    lost = [task for task, (_, node) in run.tasks().items() if node == victim]
    run.say(f"kill -9 of node {victim}, which has {', '.join(sorted(lost))}")
    run.cluster.kill_node(victim)
    run.goes_on()
    run.wait_for("the lost tasks run elsewhere",
                 lambda: all(run.tasks()[task][0] == "RUNNING" and run.tasks()[task][1] != victim
                             for task in lost))
    run.say("Slurm has started them again: " + run.where())
    run.trains_with(ACTORS)


def requeues_the_learner(run):
    decisions = run.metrics()["decisions"]
    run.say("USR1 to the learner's job, as before its time limit")
    run.cluster.ask("scancel", "--batch", "--signal=USR1", run.learner)
    run.wait_for("the learner is in its second life",
                 lambda: run.detail(run.learner, "Restarts") == "1"
                 and run.cluster.jobs()[run.learner][0] == "RUNNING")
    run.say("requeued and started again: " + run.where())
    run.trains_with(ACTORS)
    log = (run.folder / "logs" / "learner.log").read_text()
    assert "resumed from" in log, "the second life should go on from a checkpoint"
    assert run.metrics()["decisions"] > decisions, "counters should go on"
    run.say("learner: " + log[log.index("resumed from"):].split("\n")[0].replace(
        str(run.folder), "RUN"))


def learns_together(run):
    """To the end of the run, which nobody is asked for."""
    ends_in_order(run)
    last = run.metrics()
    replicas = last["replicas"]
    assert replicas["together"] == 2, "two learners should be together to the end"
    assert replicas["divergences"] == 0, "they should have the same weights"
    assert len(replicas["decisions"]) == 2 and min(replicas["decisions"]) > 0, "both should have heard of actors"
    run.say(f"two learners, which heard of {', '.join(f'{n:.0f}' for n in replicas['decisions'])} decisions")


def asks_to_stop(run):
    run.say("TERM to the learner's job")
    run.cluster.ask("scancel", "--batch", "--signal=TERM", run.learner)


def ends_in_order(run):
    run.wait_for("everything has ended",
                 lambda: all(state == "COMPLETED" for state, _ in run.own_jobs().values()))
    for job in run.own_jobs():
        assert run.detail(job, "ExitCode") == "0:0", f"{job} should end with code 0"
    run.say("ended with exit code 0: " + run.where())


def main():
    why = missing()
    if why:
        print("skipped: " + why)
        return 77
    programs = pathlib.Path(sys.argv[1]).resolve()
    log = sys.argv[3] if len(sys.argv) > 3 else None
    long_tests = bool(os.environ.get("PACML_LONG_TESTS"))  # Slurm takes its time to give up a node
    cluster = Cluster(nodes=4, node_timeout=20 if long_tests else 300)
    run = None
    try:
        run = Run(cluster, programs, log)
        run.trains_with(ACTORS)
        run.say("jobs: " + run.where())
        if long_tests:
            loses_a_node(run)
        requeues_the_learner(run)
        asks_to_stop(run)
        # Its actors ask Slurm now and then whether the learner comes back: time for another run.
        two = Run(cluster, programs, log, "together", ("--decisions", "500000", "--set", "learner.replicas=2", "--set", "learner.all_reduce_seconds=300", "--site-set", "learner={cpus: 1, memory_mib: 500}"))
        learns_together(two)
        ends_in_order(run)
    except (AssertionError, RuntimeError, subprocess.TimeoutExpired) as error:
        print(f"failed: {error}")
        print("jobs: " + (run.where() if run else "none"))
        for file in sorted(cluster.folder.glob("*/slurm/*.log")) + sorted(
                cluster.folder.glob("*/logs/*.log")):
            print(f"==> {file.name}\n" + "\n".join(file.read_text().splitlines()[-15:]))
        return 1
    finally:
        cluster.close()
    return 0


if __name__ == "__main__":
    sys.exit(main())
