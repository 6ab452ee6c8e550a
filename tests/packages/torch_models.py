"""Exports models of PyTorch by scripts/export_torch, imports them, and compares what is counted with
what PyTorch counts itself. Models of torchvision and transformers, too, where these are installed.
Fails by an exception.

    torch_models.py PACML SCRIPT
"""

import importlib.util
import os
import pathlib
import re
import subprocess
import sys
import tempfile

import torch
from torch import nn
from torch.utils.flop_counter import FlopCounterMode

REQUIRES = ["torch", "onnx", "onnxscript"]


class Block(nn.Module):
    """A transformer's, as in Vaswani et al. 2017, with the norms in front."""

    def __init__(self, width, heads):
        super().__init__()
        self.attention_norm = nn.LayerNorm(width)
        self.attention = nn.MultiheadAttention(width, heads, batch_first=True)
        self.mlp_norm = nn.LayerNorm(width)
        self.mlp = nn.Sequential(nn.Linear(width, 4 * width), nn.GELU(),
                                 nn.Linear(4 * width, width), nn.Dropout(0.1))

    def forward(self, x):
        y = self.attention_norm(x)
        x = x + self.attention(y, y, y, need_weights=False)[0]
        return x + self.mlp(self.mlp_norm(x))


def transformer():
    return nn.Sequential(nn.Embedding(5000, 256), Block(256, 4), Block(256, 4),
                         nn.Linear(256, 5000))


def convolutions():
    return nn.Sequential(
        nn.Conv2d(3, 64, 3, padding=1, bias=False), nn.BatchNorm2d(64), nn.ReLU(), nn.MaxPool2d(2),
        nn.Conv2d(64, 128, 3, stride=2), nn.ReLU(), nn.AdaptiveAvgPool2d(1), nn.Flatten(),
        nn.Linear(128, 1000))


MODELS = {"transformer": (transformer, "128:int64", lambda n: torch.zeros(n, 128, dtype=torch.long)),
          "convolutions": (convolutions, "3,112,112", lambda n: torch.zeros(n, 3, 112, 112))}


def resnet50():
    import torchvision

    return torchvision.models.resnet50()


def swin():
    import torchvision

    return torchvision.models.swin_t()


class Logits(nn.Module):
    """Of a model of transformers that puts out other things, too."""

    def __init__(self, model):
        super().__init__()
        self.model = model

    def forward(self, tokens):
        return self.model(tokens).logits


def bert():
    import transformers as t

    return Logits(t.BertForMaskedLM(
        t.BertConfig(num_hidden_layers=2, attn_implementation="eager")))


def gpt2():
    import transformers as t

    return Logits(t.GPT2LMHeadModel(
        t.GPT2Config(n_layer=2, use_cache=False, attn_implementation="eager")))


if importlib.util.find_spec("torchvision"):
    for each in (resnet50, swin):
        MODELS[each.__name__] = (each, "3,224,224", lambda n: torch.zeros(n, 3, 224, 224))
if importlib.util.find_spec("transformers"):
    for each in (bert, gpt2):
        MODELS[each.__name__] = (each, "64:int64", lambda n: torch.zeros(n, 64, dtype=torch.long))


def figure(name, printed):
    return float(re.search(rf"^{re.escape(name)} +([0-9.]+)$", printed, re.M).group(1))


def main(pacml, script):
    here = pathlib.Path(__file__).resolve().parent
    with tempfile.TemporaryDirectory() as folder:
        environment = {**os.environ, "PYTHONPATH": str(here)}
        for name, (make, shape, inputs) in MODELS.items():
            file = f"{folder}/{name}.onnx"
            exported = subprocess.run(
                [sys.executable, script, f"torch_models:{name}", "--input", shape, "--out", file],
                check=True, capture_output=True, text=True, env=environment, cwd=folder)
            printed = subprocess.run([pacml, "import", file, "--batch", "4", "--out", folder],
                                     check=True, capture_output=True, text=True)
            assert "unknown" not in printed.stdout, printed.stdout
            assert printed.stderr == "", printed.stderr
            model = make()
            parameters = sum(parameter.numel() for parameter in model.parameters()) / 1e6
            assert f"{parameters:.3f} M parameters" in exported.stdout, exported.stdout
            assert abs(figure("parameters, M", printed.stdout) - parameters) < 6e-4, printed.stdout
            with FlopCounterMode(display=False) as counter:
                model(inputs(4))
            expected = counter.get_total_flops() / 2 / 4 / 1e9
            counted = figure("multiply-adds a sample, G", printed.stdout)
            assert abs(counted - expected) < 6e-4, (name, counted, expected, printed.stdout)
        for words, sentence in [(["torch_models", "--input", "3"], "expected MODULE:NAME"),
                                (["torch_models:nobody", "--input", "3"], "nobody"),
                                (["torch_models:MODELS", "--input", "3"], "no torch.nn.Module"),
                                (["torch_models:transformer", "--input", "x"], "expected a shape")]:
            refused = subprocess.run([sys.executable, script, *words, "--out", f"{folder}/none.onnx"],
                                     capture_output=True, text=True, env=environment, cwd=folder,
                                     check=False)
            assert refused.returncode == 1 and sentence in refused.stderr, refused
    print(f"torch {torch.__version__}: {len(MODELS)} models were exported and imported")


if __name__ == "__main__":
    main(*sys.argv[1:])
