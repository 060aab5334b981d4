"""The compiler of TPUs, in libtpu: programs compiled again with what an audit advises, and their memory against its predictions.

Nothing runs: a topology is enough to compile for.
"""

from __future__ import annotations

import os
import tempfile
from pathlib import Path
from typing import Any

os.environ.setdefault("TPU_SKIP_MDS_QUERY", "1")

import jax
import jax.numpy as jnp
import tilework as tw
from jax.experimental import topologies

from common import Check, Run, Skipped

LAYERS, WIDTH, INNER, LENGTH = 8, 512, 2048, 128


def version() -> str:
    try:
        import libtpu
    except ImportError as error:
        raise Skipped("libtpu is not installed") from error
    return f"libtpu {getattr(libtpu, '__version__', '')}".strip()


def sharding() -> Any:
    try:
        topology = topologies.get_topology_desc(platform="tpu", topology_name="v5e:2x2")
    except RuntimeError as error:
        raise Skipped(f"no topology: {str(error).splitlines()[0]}") from error
    mesh = jax.sharding.Mesh(topology.devices[:1], ("all",))
    return jax.sharding.NamedSharding(mesh, jax.sharding.PartitionSpec())


def compiled(function: Any, *arguments: Any, **options: Any) -> tuple[dict[str, Any], int]:
    """What an audit says of the dump, and the peak of memory that the compiler says."""
    with tempfile.TemporaryDirectory() as folder:
        lowered = jax.jit(function, **options).lower(*arguments)
        executable = lowered.compile({"xla_dump_to": folder, "xla_dump_hlo_as_text": True})
        (program,) = tw.audit(Path(folder), top=1000).programs
        return dict(program), executable.memory_analysis().peak_memory_in_bytes


def layers(batch: int, again: bool) -> tuple[dict[str, Any], int]:
    """A step of training through layers of a scan."""
    where = sharding()

    def layer(h: Any, p: Any) -> tuple[Any, None]:
        a = jnp.tanh(h @ p["w1"])
        return h + (a * jax.nn.sigmoid(a)) @ p["w2"], None

    def loss(params: Any, x: Any, y: Any) -> Any:
        h, _ = jax.lax.scan(jax.checkpoint(layer) if again else layer, x, params)
        return jnp.mean((h - y) ** 2)

    def step(params: Any, x: Any, y: Any) -> Any:
        value, gradient = jax.value_and_grad(loss)(params, x, y)
        return jax.tree.map(lambda p, g: p - 0.1 * g, params, gradient), value

    def array(*sizes: int) -> Any:
        return jax.ShapeDtypeStruct(sizes, jnp.float32, sharding=where)

    params = {"w1": array(LAYERS, WIDTH, INNER), "w2": array(LAYERS, INNER, WIDTH)}
    data = array(batch, LENGTH, WIDTH)
    return compiled(step, params, data, data, donate_argnums=0)


def near(run: Run, what: str, predicted: float, real: float) -> None:
    """A prediction holds within five hundredths."""
    run.cases += 1
    if run.broken:
        predicted, run.broken = predicted * 1.1, False
    if abs(predicted - real) > 0.05 * abs(real):
        run.differs(f"{what}: predicted {predicted:.0f} bytes, and it is {real:.0f}")


def peaks(run: Run) -> None:
    for batch in (16, 64):
        program, peak = layers(batch, again=False)
        near(run, f"the peak of {batch}", program["peak"]["allocated_bytes"], peak)


def halves(run: Run) -> None:
    for batch in (64, 32):
        program, _ = layers(batch, again=False)
        half = program["half"]
        if half is None:
            run.differs(f"nothing is said of half of {batch}")
            continue
        _, real = layers(batch // 2, again=False)
        near(run, f"half of {batch}", half["peak_bytes"] - half["spares_bytes"], real)


def again(run: Run) -> None:
    for batch in (64, 48):
        program, peak = layers(batch, again=False)
        kept = program["kept"]
        if kept is None:
            run.differs(f"nothing is said of what is kept of {batch}")
            continue
        _, less = layers(batch, again=True)
        near(run, f"what is kept of {batch}", kept["bytes"], peak - less)


def donated(run: Run) -> None:
    where = sharding()

    def update(cache: Any, k: Any, i: Any) -> Any:
        return jax.lax.dynamic_update_slice(cache, k, (i, 0, 0))

    for rows in (8192, 65536):
        cache = jax.ShapeDtypeStruct((rows, 8, 128), jnp.float32, sharding=where)
        key = jax.ShapeDtypeStruct((1, 8, 128), jnp.float32, sharding=where)
        index = jax.ShapeDtypeStruct((), jnp.int32, sharding=where)
        program, peak = compiled(update, cache, key, index)
        after, less = compiled(update, cache, key, index, donate_argnames="cache")
        near(run, f"donating {rows} rows", program["donatable_bytes"], peak - less)
        if after["moved"]["again_bytes"] > 4096:
            run.differs(f"donating {rows} rows: {after['moved']['again_bytes']} bytes are copied all the same")


CHECKS = (
    Check("audit", "peak of memory", peaks),
    Check("audit", "half of a batch, compiled again", halves),
    Check("audit", "what a loop keeps, with jax.checkpoint", again),
    Check("audit", "a donated cache, compiled again", donated),
)
