"""Files of named arrays: the packages of their formats read what is written here, and the other way round."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path
from typing import Any

import ml_dtypes
import numpy as np
import pytest

import tilework as tw

safetensors = pytest.importorskip("safetensors.numpy")
gguf = pytest.importorskip("gguf")

Arrays = dict[str, np.ndarray[Any, Any]]


def tilework(*arguments: str | Path, code: int = 0) -> str:
    """What the command prints."""
    words = [sys.executable, "-m", "tilework", *map(str, arguments)]
    ran = subprocess.run(words, capture_output=True, text=True, check=False)
    assert ran.returncode == code, ran.stderr
    return ran.stdout + ran.stderr


def listed(path: Path) -> dict[str, dict[str, Any]]:
    return {tensor["name"]: tensor for tensor in json.loads(tilework("ls", "--json", path))["tensors"]}


def model() -> Arrays:
    random = np.random.default_rng(7)
    return {
        "embed.weight": random.standard_normal((100, 32)).astype(ml_dtypes.bfloat16),
        "layers.0.w": random.standard_normal((16, 48)).astype(np.float32),
        "layers.0.half": random.standard_normal((3, 4, 5)).astype(np.float16),
        "layers.0.ids": random.integers(-100, 100, (7,)).astype(np.int64),
        "layers.0.none": np.zeros((0, 3), np.float32),
        "scale": np.array(0.5),
    }


def same(found: Any, expected: Arrays) -> None:
    assert sorted(found) == sorted(expected)
    for name, array in expected.items():
        own = np.asarray(found[name])
        if own.dtype.kind == "V":  # what npy files say of bf16
            own = own.view(array.dtype)
        assert own.dtype == array.dtype and own.shape == array.shape, name
        assert own.tobytes() == np.ascontiguousarray(array).tobytes(), name


def read_gguf(path: Path) -> Arrays:
    found = {}
    for tensor in gguf.GGUFReader(path).tensors:
        data = tensor.data
        if tensor.tensor_type == gguf.GGMLQuantizationType.BF16:
            data = data.view(ml_dtypes.bfloat16)
        found[tensor.name] = data.reshape([int(size) for size in reversed(tensor.shape)])
    return found


def write_gguf(path: Path, arrays: Arrays) -> None:
    writer = gguf.GGUFWriter(path, "test")
    writer.add_uint32("test.number", 7)
    writer.add_array("test.list", ["a", "b"])
    for name, array in arrays.items():
        if array.dtype == ml_dtypes.bfloat16:
            writer.add_tensor(name, array.view(np.uint8), raw_dtype=gguf.GGMLQuantizationType.BF16)
        else:
            writer.add_tensor(name, array)
    writer.write_header_to_file()
    writer.write_kv_data_to_file()
    writer.write_tensors_to_file()
    writer.close()


def some(arrays: Arrays) -> Arrays:
    """Those that gguf writes: it has no empty arrays and makes lists of numbers."""
    return {name: array for name, array in arrays.items() if array.size and array.ndim}


def test_each_package_reads_what_was_written(tmp_path: Path) -> None:
    arrays = model()
    source = tmp_path / "model.safetensors"
    safetensors.save_file(arrays, source, {"format": "np"})
    for name in ["again.safetensors", "x.npz", "x.gguf"]:
        tilework("convert", source, tmp_path / name, "--check")
    with safetensors.safe_open(tmp_path / "again.safetensors", framework="numpy") as again:
        same({name: again.get_tensor(name) for name in again.keys()}, arrays)
        assert again.metadata() == {"format": "np"}
    with np.load(tmp_path / "x.npz") as found:
        same(found, arrays)
    only = ["--only", "*weight", "--only", "layers.0.w", "--only", "*half", "--only", "*ids"]
    tilework("convert", source, tmp_path / "some.gguf", *only)
    same(read_gguf(tmp_path / "some.gguf"), some(arrays))
    tilework("convert", source, f"{tmp_path / 'npy'}/", "--format", "npy")
    files = {path.stem: np.load(path) for path in (tmp_path / "npy").glob("*.npy")}
    same(files, arrays)


def test_what_each_package_writes_is_read(tmp_path: Path) -> None:
    arrays = model()
    numbers = {name: array for name, array in arrays.items() if array.dtype != ml_dtypes.bfloat16}
    saved: dict[str, Any] = {**numbers, "fortran": np.asfortranarray(arrays["layers.0.w"])}
    np.savez(tmp_path / "stored.npz", **saved)
    np.savez_compressed(tmp_path / "packed.npz", **saved)
    write_gguf(tmp_path / "x.gguf", some(arrays))
    for name in ["stored.npz", "packed.npz", "x.gguf"]:
        out = tmp_path / f"{name}.safetensors"
        tilework("convert", tmp_path / name, out, "--to", "row-major", "--check")
        expected = some(arrays) if name == "x.gguf" else {**numbers, "fortran": arrays["layers.0.w"]}
        with safetensors.safe_open(out, framework="numpy") as found:
            same({name: found.get_tensor(name) for name in found.keys()}, expected)
    assert listed(tmp_path / "packed.npz")["fortran"]["layout"] == "f32[16,48]{0,1}"
    # Metadata keep their types on the way from GGUF to GGUF.
    tilework("convert", tmp_path / "x.gguf", tmp_path / "y.gguf")
    fields = gguf.GGUFReader(tmp_path / "y.gguf").fields
    assert fields["test.number"].contents() == 7 and fields["test.list"].contents() == ["a", "b"]
    same(read_gguf(tmp_path / "y.gguf"), some(arrays))


@pytest.mark.parametrize("save", [np.savez, np.savez_compressed])
def test_numbers_with_the_most_significant_byte_first_are_read(tmp_path: Path, save: Any) -> None:
    arrays = {name: array for name, array in model().items() if array.dtype != ml_dtypes.bfloat16}
    arrays["complex"] = np.arange(12).reshape(3, 4) * (1 - 2j)
    big = {name: array.astype(array.dtype.newbyteorder(">")) for name, array in arrays.items()}
    save(tmp_path / "big.npz", **big)
    np.save(tmp_path / "one.npy", big["complex"])
    tilework("convert", tmp_path / "big.npz", tmp_path / "little.npz", "--check")
    with np.load(tmp_path / "little.npz") as found:
        same(found, arrays)
        assert not any(found[name].dtype.str.startswith(">") for name in found)
    tilework("convert", tmp_path / "one.npy", f"{tmp_path / 'one.zarr'}", "--to", "chunks (2, 3)")
    tilework("diff", tmp_path / "one.npy", tmp_path / "one.zarr")


def test_shards_are_those_of_the_libraries_that_load_models(tmp_path: Path) -> None:
    arrays = model()
    safetensors.save_file(arrays, tmp_path / "model.safetensors")
    tilework("convert", tmp_path / "model.safetensors", f"{tmp_path / 'shards'}/", "--shard-size", "4kB")
    index = json.loads((tmp_path / "shards" / "model.safetensors.index.json").read_text())
    found: Arrays = {}
    for shard in set(index["weight_map"].values()):
        part = safetensors.load_file(tmp_path / "shards" / shard)
        assert all(index["weight_map"][name] == shard for name in part)
        found |= part
    same(found, arrays)
    assert index["metadata"]["total_size"] == sum(array.nbytes for array in arrays.values())


@pytest.mark.parametrize("name", ["x.safetensors", "x.npz", "x.gguf"])
def test_a_layout_is_a_list_of_places_with_a_note(tmp_path: Path, name: str) -> None:
    weights = model()["embed.weight"]
    safetensors.save_file({"w": weights}, tmp_path / "w.safetensors")
    tilework("convert", tmp_path / "w.safetensors", tmp_path / name, "--to", "T(8,128)(2,1)", "--check")
    layout = tw.Layout("bf16[100,32]{1,0:T(8,128)(2,1)}")
    if name == "x.npz":
        with np.load(tmp_path / name) as found:
            places = found["w"]
    elif name == "x.gguf":
        places = read_gguf(tmp_path / name)["w"]
        note = gguf.GGUFReader(tmp_path / name).fields["tilework.layout.w"].contents()
        assert note == str(layout)
    else:
        places = safetensors.load_file(tmp_path / name)["w"]
        with safetensors.safe_open(tmp_path / name, framework="numpy") as opened:
            assert opened.metadata() == {"tilework.layout.w": str(layout)}
    assert places.shape == (layout.allocated,)
    assert places.tobytes() == tw.pack(weights, layout).tobytes()
    assert listed(tmp_path / name)["w"]["layout"] == str(layout)
    tilework("convert", tmp_path / name, tmp_path / "back.safetensors", "--to", "row-major")
    same(safetensors.load_file(tmp_path / "back.safetensors"), {"w": weights})


def test_transposed_sizes_are_the_transposed_array_to_everybody(tmp_path: Path) -> None:
    weights = model()["layers.0.w"]
    safetensors.save_file({"w": weights}, tmp_path / "w.safetensors")
    out = tmp_path / "out.safetensors"
    tilework("convert", tmp_path / "w.safetensors", out, "--to", "{0,1}", "--transposed", "--convert", "f16")
    same(safetensors.load_file(out), {"w": weights.T.astype(np.float16)})
    assert listed(out)["w"]["layout"] == "f16[16,48]{0,1}"


def test_quantised_blocks_keep_their_bytes(tmp_path: Path) -> None:
    rows = np.random.default_rng(3).standard_normal((8, 512)).astype(np.float32)
    kinds = [gguf.GGMLQuantizationType.Q4_0, gguf.GGMLQuantizationType.Q8_0]
    writer = gguf.GGUFWriter(tmp_path / "q.gguf", "test")
    data = {kind.name: gguf.quants.quantize(rows, kind) for kind in kinds}
    for kind in kinds:
        writer.add_tensor(kind.name, data[kind.name], raw_dtype=kind)
    writer.write_header_to_file()
    writer.write_kv_data_to_file()
    writer.write_tensors_to_file()
    writer.close()
    assert {name: tensor["type"] for name, tensor in listed(tmp_path / "q.gguf").items()} == {
        "Q4_0": "q4_0",
        "Q8_0": "q8_0",
    }
    # Through a format that has no word for them, and back.
    tilework("convert", tmp_path / "q.gguf", tmp_path / "q.safetensors")
    tilework("convert", tmp_path / "q.safetensors", tmp_path / "back.gguf")
    for tensor in gguf.GGUFReader(tmp_path / "back.gguf").tensors:
        assert tensor.tensor_type.name == tensor.name
        assert tensor.data.tobytes() == data[tensor.name].tobytes()


def test_pickles_are_listed_and_never_loaded(tmp_path: Path) -> None:
    objects = np.array([{"a": 1}], dtype=object)
    np.savez(tmp_path / "x.npz", objects=objects, numbers=np.arange(3))
    assert listed(tmp_path / "x.npz")["objects"]["unread"].startswith('"objects" is an array of Python objects')
    said = tilework("convert", tmp_path / "x.npz", tmp_path / "y.npz", code=2)
    assert "Python objects" in said and not (tmp_path / "y.npz").exists()
    tilework("convert", tmp_path / "x.npz", tmp_path / "y.npz", "--only", "numbers")


def mixed(rows: np.ndarray[Any, Any], count: int, chunk: int, head: int, change: int) -> bytes:
    """Blocks of `count` rows in one: the scales of all rows, then `chunk` bytes of each in turn."""
    groups = rows.reshape(-1, count, *rows.shape[1:])
    scales = groups[..., :head].transpose(0, 2, 1, 3).reshape(*groups.shape[:1], rows.shape[1], -1)
    quants = groups[..., head:].reshape(*groups.shape[:3], -1, chunk).transpose(0, 2, 3, 1, 4)
    quants = quants.reshape(*scales.shape[:2], -1) ^ change
    return np.concatenate([scales, quants], axis=-1).astype(np.uint8).tobytes()


@pytest.mark.parametrize("name", ["Q4_0", "Q8_0"])
@pytest.mark.parametrize(("rows", "chunk"), [(4, 4), (4, 8)])
def test_mixed_rows_are_those_of_the_blocks_that_gguf_made(tmp_path: Path, name: str, rows: int, chunk: int) -> None:
    kind = gguf.GGMLQuantizationType[name]
    numbers = np.random.default_rng(5).standard_normal((8, 64)).astype(np.float32)
    blocks = gguf.quants.quantize(numbers, kind)
    writer = gguf.GGUFWriter(tmp_path / "q.gguf", "test")
    writer.add_tensor("w", blocks, raw_dtype=kind)
    writer.write_header_to_file()
    writer.write_kv_data_to_file()
    writer.write_tensors_to_file()
    writer.close()
    mix = f"{name.lower()}_{rows}x{chunk}"
    tilework("convert", tmp_path / "q.gguf", tmp_path / "m.npz", "--to", mix, "--check")
    expected = mixed(blocks.reshape(8, 2, -1), rows, chunk, 2, 0x88 if name == "Q4_0" else 0)
    with np.load(tmp_path / "m.npz") as found:
        assert found["w"].tobytes() == expected
    assert listed(tmp_path / "m.npz")["w"]["layout"] == f"{mix}[8,64]"
    tilework("convert", tmp_path / "m.npz", tmp_path / "back.gguf", "--to", name.lower(), "--check")
    back = gguf.GGUFReader(tmp_path / "back.gguf").tensors[0]
    assert back.tensor_type == kind and back.data.tobytes() == blocks.tobytes()
    assert np.array_equal(gguf.quants.dequantize(back.data, kind), gguf.quants.dequantize(blocks, kind))


def test_functions_answer_what_the_command_does(tmp_path: Path) -> None:
    arrays = model()
    source, target = tmp_path / "model.safetensors", tmp_path / "tiled.npz"
    safetensors.save_file(arrays, source)
    found = {array.name: array for array in tw.ls(source)}
    assert {name: array.shape for name, array in found.items()} == {name: one.shape for name, one in arrays.items()}
    assert found["embed.weight"].layout == tw.Layout("bf16[100,32]") and found["embed.weight"].nbytes == 6400
    answer = tw.convert(source, target, to="T(8,128)(2,1)", rename="layers.0.*=*", memory="1MiB", check=True)
    assert answer["checked"] and answer["arrays"] == 6 and answer["moved"] == 3
    assert sum(array.padding for array in tw.ls(target)) > 0
    assert not tw.diff(source, target, rename=["layers.0.*=*"])
    difference = tw.diff(source, target)
    assert difference and set(difference.only_in_b) == {"w", "half", "ids", "none"}
    with pytest.raises(tw.LayoutError, match="none of the 6 names matches") as caught:
        tw.ls(source, only="nothing")
    assert caught.value.accepted is not None
    with pytest.raises(tw.LayoutError, match="which fits none of the arrays"):
        tw.convert(source, target, to="{0,1,2,3}")
    with pytest.raises(tw.LayoutError, match="invalid value 'x' for '--threads"):
        tw.convert(source, target, threads="x")  # type: ignore[arg-type]
    np.savez(tmp_path / "x.npz", objects=np.array([{}], dtype=object))
    only = tw.ls(tmp_path / "x.npz")[0]
    assert only.layout is None and only.unread is not None and only.shape == (1,)
