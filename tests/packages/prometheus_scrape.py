#!/usr/bin/env python3
"""Debian's Prometheus scrapes a run of sixteen processes: a learner, three replay shards, twelve
actors. Its rules must load and hold, and every expression of the alert rules and of Grafana's
dashboard must be answered, those of the dashboard with figures.

    prometheus_scrape.py FOLDER_OF_PROGRAMS SOURCE

Exit code 77, with a sentence: prometheus or promtool is not there. Fails by an exception.
"""

import json
import pathlib
import shutil
import subprocess
import sys
import tempfile
import urllib.error
import urllib.parse
import urllib.request

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1] / "support"))
from ports import sixteen_ports
from soon import wait_until

SHARDS, ACTORS = 3, 12
# Apex, of a tiny size; one host, so nothing need be encrypted.
SETTINGS = ["algorithm=apex", "apex.batch_size=64", "replay.shards=3", "replay.table.capacity=5000",
            "replay.table.min_size=300", "replay.table.error_buffer=500", "replay.snapshot_seconds=1",
            "replay.patience_seconds=300"]
# Figures that need a peer, or what this run does not have: the expression need not have a value.
ABSENT = {"pacml_actors_enough", "pacml_work_window_decisions", "pacml_policy_entropy_ratio"}


class Processes:
    """Programs that end with their owner."""

    def __init__(self, folder):
        self.folder = folder
        self.all = []

    def start(self, name, words):
        log = open(self.folder / f"{name}.log", "w", encoding="utf-8")
        self.all.append((name, subprocess.Popen(words, stdout=log, stderr=log)))

    def check(self):
        for name, process in self.all:
            if process.poll() is not None:
                log = (self.folder / f"{name}.log").read_text(encoding="utf-8", errors="replace")
                raise AssertionError(f"{name} ended with {process.returncode}: {log[-2000:]}")

    def stop(self):
        for _, process in reversed(self.all):
            process.terminate()
        for _, process in self.all:
            try:
                process.wait(30)
            except subprocess.TimeoutExpired:
                process.kill()
                process.wait()


def ask(port, path, **query):
    url = f"http://127.0.0.1:{port}{path}" + ("?" + urllib.parse.urlencode(query) if query else "")
    try:
        with urllib.request.urlopen(url, timeout=10) as answer:
            document = json.load(answer)
    except urllib.error.HTTPError as error:
        if error.code == 503:  # it listens before it has read its configuration
            raise
        raise AssertionError(f"{url}: {error.read().decode()}") from error
    assert document["status"] == "success", document
    return document["data"]


def wait_for_answer(what, holds, processes):
    """Prometheus may be too busy to be asked, or not there yet."""
    def answers():
        try:
            return holds()
        except (urllib.error.URLError, ConnectionError, TimeoutError):
            return False

    wait_until(what, answers, meanwhile=processes.check)


def start_run(processes, programs, source, folder, pages):
    """The addresses of their pages."""
    config = [str(source / "tests/integration/slurm/tiny.yaml")]
    for setting in SETTINGS:
        config += ["--set", setting]
    sockets = f"ipc://{folder}/s"
    shards = [f"{sockets}-shard-{n}" for n in range(SHARDS)]
    replay = [word for shard in shards for word in ("--replay", shard)]
    targets = []

    def page():
        targets.append(f"127.0.0.1:{pages[len(targets)]}")
        return ["--http", targets[-1]]

    pacml = str(programs / "pacml")
    for n, shard in enumerate(shards):
        processes.start(f"replay-{n}", [pacml, "replay", *config, "--bind", shard, "--shard", str(n),
                                        "--snapshot", str(folder / f"shard-{n}"), *page()])
    processes.start("learner", [str(programs / "pacml-learner"), "learner", *config, "--run",
                                str(folder / "run"), "--bind", sockets, *replay, *page()])
    for n in range(ACTORS):
        processes.start(f"actor-{n}", [pacml, "actor", *config, "--learner", sockets, *replay, "--id",
                                       str(n), *page()])
    return targets


def expressions(source):
    """(where, expression) of all alerts and of all panels, with Grafana's variables filled in."""
    dashboard = json.loads((source / "deploy/grafana/dashboard.json").read_text(encoding="utf-8"))
    panels = []
    for panel in dashboard["panels"]:
        for target in panel.get("targets", []):
            expression = target["expr"].replace("$job", "pacml").replace("$instance", ".*")
            panels.append((panel["title"], expression))
    return panels


def main(programs, source):
    for tool in ("prometheus", "promtool"):
        if shutil.which(tool) is None:
            print(f"skipped: there is no {tool} (package prometheus)")
            return 77
    rules = source / "deploy/prometheus"
    subprocess.run(["promtool", "check", "rules", str(rules / "alerts.yaml")], check=True)
    subprocess.run(["promtool", "test", "rules", str(rules / "alerts_test.yaml")], check=True)
    with tempfile.TemporaryDirectory(prefix="pacml-test-") as name:
        folder = pathlib.Path(name)
        processes = Processes(folder)
        try:
            port, first = sixteen_ports(), sixteen_ports()
            ports = range(first, first + 1 + SHARDS + ACTORS)
            targets = start_run(processes, programs, source, folder, ports)
            config = {"global": {"scrape_interval": "1s", "evaluation_interval": "1s"},
                      "rule_files": [str(rules / "alerts.yaml")],
                      "scrape_configs": [{"job_name": "pacml", "static_configs": [{"targets": targets}]}]}
            (folder / "prometheus.yml").write_text(json.dumps(config), encoding="utf-8")
            subprocess.run(["promtool", "check", "config", str(folder / "prometheus.yml")], check=True)
            processes.start("prometheus", ["prometheus", f"--config.file={folder}/prometheus.yml",
                                           f"--storage.tsdb.path={folder}/data",
                                           f"--web.listen-address=127.0.0.1:{port}"])
            wait_for_answer("all processes are scraped",
                            lambda: len(ask(port, "/api/v1/query",
                                            query='up{job="pacml"} == 1')["result"])
                            == len(targets), processes)
            count = 1 + SHARDS + ACTORS
            for role, expected in (("learner", 1), ("replay", SHARDS), ("actor", ACTORS)):
                ready = f'pacml_ready{{role="{role}"}} == 1'
                wait_for_answer(f"{expected} of {role} are ready",
                                lambda: len(ask(port, "/api/v1/query", query=ready)["result"])
                                == expected, processes)
            wait_for_answer("the learner learns",
                            lambda: ask(port, "/api/v1/query",
                                        query="rate(pacml_updates_total[1m]) > 0")["result"],
                            processes)
            groups = ask(port, "/api/v1/rules")["groups"]
            wait_for_answer("the rules have been evaluated", lambda: all(
                rule["health"] == "ok" for group in ask(port, "/api/v1/rules")["groups"]
                for rule in group["rules"]), processes)
            assert sum(len(group["rules"]) for group in groups) >= 10
            answered = 0
            for title, expression in expressions(source):
                wanted = not any(absent in expression for absent in ABSENT)

                def has_value(expression=expression):
                    return ask(port, "/api/v1/query", query=expression)["result"]

                if wanted:
                    wait_for_answer(f"{title}: {expression} has a value", has_value, processes)
                else:
                    has_value()
                answered += 1
            print(f"prometheus scrapes {count} processes, and answers {answered} expressions")
        finally:
            processes.stop()
    return 0


if __name__ == "__main__":
    sys.exit(main(pathlib.Path(sys.argv[1]), pathlib.Path(sys.argv[2])))
