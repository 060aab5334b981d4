"""Where stores are while they are measured: a folder of this machine, or a bucket of a server of S3 on it."""

from __future__ import annotations

import os
import shutil
import socket
import subprocess
import sys
import time
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path


class Here:
    """A folder."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder

    def at(self, name: str) -> str:
        return str(self.folder / name)

    def free(self) -> int:
        return shutil.disk_usage(self.folder).free

    def remove(self, name: str) -> None:
        path = self.folder / name
        shutil.rmtree(path, ignore_errors=True)
        if path.is_file():
            path.unlink()

    def clear(self) -> None:
        """Also what a run that failed left beside its target."""
        for path in self.folder.glob("*target*"):
            self.remove(path.name)


class Bucket:
    """A bucket of a server that this process starts: it holds objects in memory, and shares the processors with whoever asks."""

    name = "bench"

    def __init__(self) -> None:
        with socket.socket() as found:
            found.bind(("127.0.0.1", 0))
            port = found.getsockname()[1]
        os.environ.update(
            AWS_ACCESS_KEY_ID="of-the-bench", AWS_SECRET_ACCESS_KEY="of-the-bench", AWS_REGION="us-east-1",
            AWS_DEFAULT_REGION="us-east-1", AWS_EC2_METADATA_DISABLED="true", AWS_ENDPOINT_URL=f"http://127.0.0.1:{port}",
        )  # fmt: skip
        words = [sys.executable, "-m", "moto.server", "-H", "127.0.0.1", "-p", str(port)]
        self.server = subprocess.Popen(words, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        for _ in range(600):
            with socket.socket() as found:
                if found.connect_ex(("127.0.0.1", port)) == 0:
                    break
            time.sleep(0.1)
        client().create_bucket(Bucket=self.name)

    def at(self, name: str) -> str:
        return f"s3://{self.name}/{name}"

    def free(self) -> int:
        return os.sysconf("SC_AVPHYS_PAGES") * os.sysconf("SC_PAGE_SIZE")

    def remove(self, name: str) -> None:
        asked = client()
        for key in keys(asked, f"{name}/"):
            asked.delete_object(Bucket=self.name, Key=key)

    def clear(self) -> None:
        for prefix in {key.split("/")[0] for key in keys(client(), "") if "target" in key.split("/")[0]}:
            self.remove(prefix)

    def close(self) -> None:
        self.server.kill()
        self.server.wait()


def client():
    import boto3

    return boto3.client("s3", endpoint_url=os.environ["AWS_ENDPOINT_URL"])


def keys(asked, prefix: str) -> list[str]:
    pages = asked.get_paginator("list_objects_v2").paginate(Bucket=Bucket.name, Prefix=prefix)
    return [found["Key"] for page in pages for found in page.get("Contents", [])]


def split(address: str) -> str:
    """The name of a store in the bucket."""
    return address.removeprefix(f"s3://{Bucket.name}/")


def copy_objects(origin: str, target: str) -> None:
    """Each object read and put again, sixteen at a time."""
    asked, before = client(), split(origin)

    def one(key: str) -> None:
        body = asked.get_object(Bucket=Bucket.name, Key=key)["Body"].read()
        asked.put_object(Bucket=Bucket.name, Key=split(target) + key[len(before) :], Body=body)

    with ThreadPoolExecutor(16) as pool:
        list(pool.map(one, keys(asked, f"{before}/")))
