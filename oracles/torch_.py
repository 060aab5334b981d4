"""PyTorch, where it is installed (its package is gigabytes): strides, memory formats, and code that it runs."""

from __future__ import annotations

import random
import re
from typing import Any

import numpy as np
import tilework as tw
import torch

from common import Check, Integers, Run, either, numbered, offsets_in, shape, strided, tiled

FORMATS = {4: "channels_last", 5: "channels_last_3d"}


def version() -> str:
    return f"PyTorch {torch.__version__}"


def places(tensor: Any) -> Integers:
    """Where the elements lie in the storage, by their addresses."""
    offsets, base = np.empty(tuple(tensor.shape), np.int64), tensor.untyped_storage().data_ptr()
    for index in np.ndindex(*tensor.shape):
        offsets[index] = (tensor[index].data_ptr() - base) // tensor.element_size()
    return offsets


def view(draw: random.Random) -> Any:
    """A view of a fresh tensor: orders, slices with steps, broadcasts."""
    tensor = torch.zeros(shape(draw), dtype=draw.choice((torch.float32, torch.bfloat16, torch.int8, torch.int64)))
    tensor = tensor.permute(draw.sample(range(tensor.dim()), tensor.dim()))
    for dim, size in enumerate(tensor.shape):
        if draw.random() < 0.4:
            start = draw.randrange(size)
            tensor = tensor[(slice(None),) * dim + (slice(start, draw.randint(start + 1, size), draw.choice((1, 2))),)]
    return tensor.expand(3, *tensor.shape) if draw.random() < 0.2 else tensor


def reads(run: Run) -> None:
    for _ in run.draws():
        tensor = view(run.random)
        offsets = places(tensor) - tensor.storage_offset()
        text = f"{tensor.dtype} {tensor.shape} stride {tensor.stride()}"
        run.same(text, offsets, places=int(offsets.max()) + 1)
        run.same(text, offsets, layout=tw.Layout(tensor), case="the tensor itself")


def reads_formats(run: Run) -> None:
    for _ in run.draws(0.5):
        rank = run.random.choice((4, 5))
        dims = shape(run.random, (rank,), 5)
        tensor = torch.empty(dims, memory_format=getattr(torch, FORMATS[rank]))
        run.same(f"torch.float32 {list(dims)} torch.{FORMATS[rank]}", places(tensor), places=tensor.numel())


def says_strides(run: Run) -> None:
    for _ in run.draws():
        layout = strided(run.random)
        text = run.say(layout, "torch")
        found = text and re.fullmatch(r"torch\.float32 (\[.*?\])(?: strides (\[.*?\]))?(?: storage_offset (\d+))?", text)
        if not text or not found:
            continue
        dims, strides, start = eval(found[1]), found[2] and eval(found[2]), int(found[3] or 0)
        strides = strides or torch.empty(dims, device="meta").stride()
        buffer = torch.arange(layout.allocated)
        run.same(text, torch.as_strided(buffer, dims, strides, start).numpy(), layout=layout)


def says_code(run: Run) -> None:
    for _ in run.draws():
        layout = either(run.random) if run.random.random() < 0.3 else tiled(run.random)
        text = run.say(layout, "torch")
        if text is None or "# x:" not in text:
            continue
        made = eval(text, {"torch": torch, "x": torch.from_numpy(numbered(layout.dims))}).numpy()
        run.same(text, offsets_in(made, layout.dims), places=made.size, layout=layout)


CHECKS = [
    Check("torch", "strides that it prints, addresses of elements", reads),
    Check("torch", "memory formats, addresses of elements", reads_formats),
    Check("torch", "strides said, made into a tensor", says_strides),
    Check("torch (code)", "code said for tiled layouts, run on an arange", says_code),
]
