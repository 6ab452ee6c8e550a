"""Imports the real models that the Python package onnx holds (without their weights' values), and
compares what is counted of them with what is published. Fails by an exception.

    onnx_models.py PACML
"""

import pathlib
import re
import subprocess
import sys
import tempfile

import onnx

REQUIRES = ["onnx"]

# Millions of parameters, and giga multiply-adds of an image of 224 x 224, of torchvision's table of
# models (num_params, GFLOPS of VGG19_Weights and ResNet50_Weights).
PUBLISHED = {"light_vgg19": (143.667, 19.63), "light_resnet50": (25.557, 4.09)}
TOLERANCE = 0.001


def figure(name, printed):
    return float(re.search(rf"^{re.escape(name)} +([0-9.]+)$", printed, re.M).group(1))


def main(pacml):
    folder = pathlib.Path(onnx.__file__).parent / "backend" / "test" / "data" / "light"
    files = sorted(folder.glob("*.onnx"))
    assert len(files) >= 2, folder
    with tempfile.TemporaryDirectory() as out:
        for file in files:
            printed = subprocess.run([pacml, "import", str(file), "--batch", "16", "--out", out],
                                     check=True, capture_output=True, text=True)
            assert "unknown" not in printed.stdout, printed.stdout
            assert printed.stderr == "", printed.stderr
            if file.stem in PUBLISHED:
                parameters, multiply_adds = PUBLISHED[file.stem]
                assert figure("parameters, M", printed.stdout) == parameters, printed.stdout
                counted = figure("multiply-adds a sample, G", printed.stdout)
                assert abs(counted / multiply_adds - 1) <= TOLERANCE, printed.stdout
        shown = subprocess.run([pacml, "graphs", "--profiles", out], check=True,
                               capture_output=True, text=True).stdout
        assert all(file.stem in shown for file in files), shown
    print(f"onnx {onnx.__version__}: {len(files)} models were imported")


main(sys.argv[1])
