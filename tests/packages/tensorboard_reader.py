"""TensorBoard's own readers on the event files of a run that was trained, ended and resumed.

    tensorboard_reader.py PACML CONFIG

Fails by an exception.
"""

import json
import pathlib
import subprocess
import sys
import tempfile

from tensorboard.backend.event_processing import event_accumulator, event_file_loader
from tensorboard.plugins.hparams import plugin_data_pb2

REQUIRES = ["tensorboard"]


def train(pacml, config, run, decisions, *more):
    subprocess.run([pacml, "train", config, "--run", run, "--deterministic", "--decisions",
                    str(decisions), "--set", "learner.metrics_seconds=0.05", *more],
                   check=True, stdout=subprocess.DEVNULL)


def hyper_parameters(folder):
    """Of each tag of the plugin, the messages in the order of the files."""
    found = {}
    for path in sorted(folder.iterdir()):
        for event in event_file_loader.LegacyEventFileLoader(str(path)).Load():
            for value in event.summary.value:
                if value.metadata.plugin_data.plugin_name == "hparams":
                    data = plugin_data_pb2.HParamsPluginData.FromString(
                        value.metadata.plugin_data.content)
                    found.setdefault(value.tag, []).append(data)
    return found


def main(pacml, config):
    with tempfile.TemporaryDirectory() as name:
        run = pathlib.Path(name) / "run"
        train(pacml, config, str(run), 3000)
        train(pacml, config, str(run), 6000, "--resume")
        folder = run / "tensorboard"
        files = sorted(folder.iterdir())
        assert len(files) == 2, files

        events = event_accumulator.EventAccumulator(str(folder), size_guidance={"scalars": 0})
        events.Reload()
        tags = events.Tags()
        for tag in ("learning/loss", "evaluation/score", "evaluation/best", "speed/decisions_per_second"):
            assert tag in tags["scalars"], tags["scalars"]
        steps = [point.step for point in events.Scalars("learning/loss")]
        assert steps == sorted(steps) and steps[-1] >= 6000, steps
        last = json.loads((run / "metrics.jsonl").read_text(encoding="utf-8").splitlines()[-1])
        best = events.Scalars("evaluation/best")[-1]
        assert best.step == last["decisions"]
        assert abs(best.value - last["evaluation"]["best"]) < 1e-6
        assert "actions" in tags["histograms"], tags
        histogram = events.Histograms("actions")[-1].histogram_value
        assert histogram.num > 0 and histogram.min >= 0

        hparams = hyper_parameters(folder)
        started = hparams["_hparams_/session_start_info"]
        assert len(started) == 2
        assert started[0].session_start_info.hparams["seed"].number_value == 1
        assert started[0].session_start_info.hparams["algorithm"].string_value == "impala"
        metrics = hparams["_hparams_/experiment"][0].experiment.metric_infos
        assert [metric.name.tag for metric in metrics][0] == "evaluation/best"
        assert len(hparams["_hparams_/session_end_info"]) == 2
        print(f"TensorBoard reads {len(files)} files, {len(tags['scalars'])} curves of up to {len(steps)} points")


main(sys.argv[1], sys.argv[2])
