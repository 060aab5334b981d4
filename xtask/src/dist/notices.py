"""Prints the licences of the crates that a package of this workspace is made of: notices.py PACKAGE TARGET."""

import json
import os
import re
import subprocess
import sys
from pathlib import Path

LICENCE = re.compile(r"(LICEN[CS]E|COPYING|COPYRIGHT|NOTICE|UNLICENSE)", re.IGNORECASE)


def crates(package: str, target: str) -> list[dict]:
    """The crates that end up in the package, not those that only build or test it."""
    cargo = [os.environ.get("CARGO", "cargo"), "metadata", "--quiet", "--format-version=1", "--locked"]
    cargo += ["--features", "tilework-cli/objects"]  # as what is given away is built
    said = subprocess.run([*cargo, "--filter-platform", target], stdout=subprocess.PIPE, check=True).stdout
    metadata = json.loads(said)
    known = {crate["id"]: crate for crate in metadata["packages"]}
    nodes = {node["id"]: node["deps"] for node in metadata["resolve"]["nodes"]}
    waiting = [crate for crate in metadata["workspace_members"] if known[crate]["name"] == package]
    found = set(waiting)
    while waiting:
        for needed in nodes[waiting.pop()]:
            linked = any(kind["kind"] is None for kind in needed["dep_kinds"])
            if linked and needed["pkg"] not in found:
                found.add(needed["pkg"])
                waiting.append(needed["pkg"])
    return sorted((known[crate] for crate in found), key=lambda crate: crate["name"])


def main(package: str, target: str) -> None:
    texts: dict[str, tuple[str, list[str]]] = {}
    print("This program has code of others in it, under these licences.\n")
    print("the standard library of Rust: MIT OR Apache-2.0, The Rust Project Contributors")
    for crate in crates(package, target):
        name = f"{crate['name']} {crate['version']}"
        folder = Path(crate["manifest_path"]).parent
        if not crate["source"]:  # ours, but for the fonts in it
            for path in sorted(folder.glob("fonts/LICENSE*")):
                print("the font of pictures: Bitstream Vera and Arev, DejaVu changes are in the public domain")
                texts[path.name] = (path.read_text().strip("\n"), ["the font of pictures, DejaVu Sans Mono"])
            continue
        print(f"{name}: {crate['license'] or crate['license_file']}, {crate['repository'] or ', '.join(crate['authors'])}")
        for path in sorted(path for path in folder.iterdir() if path.is_file() and LICENCE.match(path.name)):
            text = path.read_text(errors="replace").strip("\n")
            # Many crates have the same text, apart from blanks.
            _, names = texts.setdefault(" ".join(text.split()), (text, []))
            if name not in names:
                names.append(name)
    for text, names in texts.values():
        print(f"\n{'=' * 100}\n{', '.join(names)}\n\n{text}")


main(*sys.argv[1:])
