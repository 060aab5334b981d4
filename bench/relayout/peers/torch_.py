"""PyTorch, where it is installed: `copy_` between strided views."""

import torch

from peers import Peer, repeated

TYPES = {"u8": torch.uint8, "bf16": torch.bfloat16, "f32": torch.float32, "f64": torch.float64, "c128": torch.complex128}


class Rival:
    def __init__(self, options):
        torch.set_grad_enabled(False)
        self.title = f"PyTorch {torch.__version__}"

    def peers(self, workload, data, threads):
        # It has no negative strides.
        if workload.element in TYPES and not any(nest.backwards for nest in workload.nests):
            yield Peer("PyTorch copy_", lambda: self.prepare(workload, data, threads))

    def prepare(self, workload, data, threads):
        torch.set_num_threads(threads)
        kind = TYPES[workload.element]
        source, destination = (torch.from_numpy(array).view(kind) for array in (data.source, data.destination))
        pairs = [
            [
                torch.as_strided(array, nest.extents, nest.strides(side), nest.start(side))
                for side, array in ((1, destination), (0, source))
            ]
            for nest in workload.nests
        ]

        def once():
            for to, of in pairs:
                to.copy_(of)

        return repeated(once)
