"""Contenders for weights: matrices are transposed and converted to bf16, and a file changes its format."""

from __future__ import annotations

import shutil
from dataclasses import dataclass

from arrays import COPY, Contender, Work, command


@dataclass(frozen=True)
class Weights:
    """What is done to a file of weights."""

    name: str
    target: str
    memory: str

    def text(self) -> str:
        return self.memory


def to_bf16(job: Weights, origin: str, target: str) -> Work:
    words = ["--to", "{0,1}", "--transposed", "--convert", "bf16"]
    return command("convert", origin, target, *words, "--memory", job.memory)


def to_bf16_numpy(_: Weights, origin: str, target: str) -> Work:
    import ml_dtypes
    import numpy as np
    from safetensors import safe_open
    from safetensors.numpy import save_file

    def run() -> None:
        with safe_open(origin, framework="numpy") as file:
            new = {name: np.ascontiguousarray(file.get_tensor(name).T.astype(ml_dtypes.bfloat16)) for name in file.keys()}
        save_file(new, target)

    return run


def to_bf16_torch(_: Weights, origin: str, target: str) -> Work:
    import torch
    from safetensors import safe_open
    from safetensors.torch import save_file

    def run() -> None:
        with safe_open(origin, framework="pt") as file:
            new = {name: file.get_tensor(name).T.to(torch.bfloat16).contiguous() for name in file.keys()}
        save_file(new, target)

    return run


def to_gguf(job: Weights, origin: str, target: str) -> Work:
    return command("convert", origin, target, "--format", "gguf", "--memory", job.memory)


def to_gguf_python(_: Weights, origin: str, target: str) -> Work:
    import gguf
    from safetensors import safe_open

    def run() -> None:
        writer = gguf.GGUFWriter(target, "llama")
        with safe_open(origin, framework="numpy") as file:
            for name in file.keys():
                writer.add_tensor(name, file.get_tensor(name))
        writer.write_header_to_file()
        writer.write_kv_data_to_file()
        writer.write_tensors_to_file()
        writer.close()

    return run


def copy_file(_: Weights, origin: str, target: str) -> Work:
    return lambda: shutil.copy(origin, target)


BF16, GGUF = "weights, transposed to bf16", "weights to GGUF"

WEIGHTS = {
    BF16: [
        Contender(COPY, "safetensors", copy_file),
        Contender("tilework convert", "tilework", to_bf16),
        Contender("safetensors and NumPy", "safetensors", to_bf16_numpy),
        Contender("safetensors and PyTorch", "torch", to_bf16_torch),
    ],
    GGUF: [
        Contender(COPY, "safetensors", copy_file),
        Contender("tilework convert", "tilework", to_gguf),
        Contender("gguf-py", "gguf", to_gguf_python),
    ],
}

FILES = {BF16: "target.safetensors", GGUF: "target.gguf"}


def is_right(name: str, origin, target) -> bool:
    """Whether the target holds what the source held."""
    import ml_dtypes
    import numpy as np
    from safetensors import safe_open

    with safe_open(origin, framework="numpy") as file:
        names = sorted(file.keys())
        if name == GGUF:
            import gguf

            found = {tensor.name: tensor.data for tensor in gguf.GGUFReader(target).tensors}
            return sorted(found) == names and all(np.array_equal(found[of], file.get_tensor(of)) for of in names)
        with safe_open(target, framework="numpy") as new:
            return sorted(new.keys()) == names and all(
                np.array_equal(new.get_tensor(of), file.get_tensor(of).T.astype(ml_dtypes.bfloat16)) for of in names
            )
