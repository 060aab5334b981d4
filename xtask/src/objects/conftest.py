"""A server of S3 on this machine, one that fails now and then before it, and the command."""

import http.client
import http.server
import itertools
import json
import os
import socket
import subprocess
import sys
import threading
import time
from pathlib import Path

import boto3
import numpy as np
import pytest
import zarr

PROGRAM = os.environ["TILEWORK"]
SECRET = "secret-of-the-test"
NUMBERS = itertools.count()


def free_port():
    with socket.socket() as found:
        found.bind(("127.0.0.1", 0))
        return found.getsockname()[1]


class Proxy(http.server.BaseHTTPRequestHandler):
    """Hands requests on, but for some."""

    protocol_version = "HTTP/1.1"

    def hand_on(self):
        server = self.server
        body = self.rfile.read(int(self.headers.get("Content-Length") or 0))
        with server.lock:
            server.count += 1
            number = server.count
            server.log.append(f"{self.command} {self.path}")
        fault = server.fault(number, self) if server.fault else None
        if fault == "busy":
            self.send_response(503)
            self.send_header("Content-Length", "0")
            self.end_headers()
            return
        connection = http.client.HTTPConnection("127.0.0.1", server.behind, timeout=60)
        connection.request(self.command, self.path, body, dict(self.headers.items()))
        answer = connection.getresponse()
        content = answer.read()
        connection.close()
        self.send_response(answer.status)
        for name, value in answer.getheaders():
            if name.lower() not in ("content-length", "transfer-encoding", "connection", "server", "date"):
                self.send_header(name, value)
        length = answer.getheader("Content-Length") if self.command == "HEAD" else len(content)
        self.send_header("Content-Length", str(length or 0))
        self.end_headers()
        if self.command == "HEAD":
            return
        if fault == "cut":
            self.wfile.write(content[: len(content) // 2])
            self.close_connection = True
            return
        self.wfile.write(content)

    do_GET = do_HEAD = do_PUT = do_POST = do_DELETE = hand_on

    def log_message(self, *_):
        pass


class Faulty(http.server.ThreadingHTTPServer):
    daemon_threads = True

    def __init__(self, behind):
        super().__init__(("127.0.0.1", 0), Proxy)
        self.behind, self.lock = behind, threading.Lock()
        self.clear()

    def clear(self):
        self.count, self.log, self.fault = 0, [], None

    def handle_error(self, *_):
        pass  # a client that was killed


@pytest.fixture(scope="session")
def moto():
    port = free_port()
    words = [sys.executable, "-m", "moto.server", "-H", "127.0.0.1", "-p", str(port)]
    server = subprocess.Popen(words, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    for _ in range(600):
        with socket.socket() as found:
            if found.connect_ex(("127.0.0.1", port)) == 0:
                break
        time.sleep(0.1)
    yield port
    server.kill()
    server.wait()


@pytest.fixture(scope="session")
def proxy(moto):
    server = Faulty(moto)
    threading.Thread(target=server.serve_forever, daemon=True).start()
    yield server
    server.shutdown()


@pytest.fixture
def s3(moto, proxy, monkeypatch):
    """A bucket of its own, with the proxy before it."""
    for name in list(os.environ):
        if name.startswith("AWS_"):
            monkeypatch.delenv(name)
    proxy.clear()
    monkeypatch.setenv("HOME", "/nonexistent")
    monkeypatch.setenv("AWS_EC2_METADATA_DISABLED", "true")
    monkeypatch.setenv("AWS_ACCESS_KEY_ID", "key-of-the-test")
    monkeypatch.setenv("AWS_SECRET_ACCESS_KEY", SECRET)
    monkeypatch.setenv("AWS_ENDPOINT_URL", f"http://127.0.0.1:{proxy.server_port}")
    return Bucket(f"bucket-{next(NUMBERS)}", moto)


class Bucket:
    def __init__(self, name, port):
        self.name = name
        self.client = boto3.client("s3", endpoint_url=f"http://127.0.0.1:{port}", region_name="us-east-1")
        self.client.create_bucket(Bucket=name)

    def at(self, path):
        return f"s3://{self.name}/{path}"

    def keys(self, prefix=""):
        pages = self.client.get_paginator("list_objects_v2").paginate(Bucket=self.name, Prefix=prefix)
        return [found["Key"] for page in pages for found in page.get("Contents", [])]

    def bytes(self, key):
        return self.client.get_object(Bucket=self.name, Key=key)["Body"].read()

    def put(self, key, content, **more):
        self.client.put_object(Bucket=self.name, Key=key, Body=content, **more)

    def download(self, name, folder):
        """A store as files, for what reads no objects here."""
        for key in self.keys(f"{name}/"):
            path = Path(folder) / key
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_bytes(self.bytes(key))
        return Path(folder) / name

    def array(self, name, folder):
        return zarr.open_array(self.download(name, folder), mode="r")[:]

    def upload(self, folder, name):
        for path in Path(folder).rglob("*"):
            if path.is_file():
                self.put(f"{name}/{path.relative_to(folder)}", path.read_bytes())


def tilework(*words, code=0, env=None):
    ran = subprocess.run([PROGRAM, *map(str, words)], capture_output=True, text=True, env={**os.environ, **(env or {})})
    assert ran.returncode == code, ran.stderr + ran.stdout
    assert SECRET not in ran.stdout + ran.stderr
    return ran.stdout if code == 0 else " ".join(ran.stderr.split())


def asked(*words):
    return json.loads(tilework(*words, "--json"))


@pytest.fixture
def a(tmp_path):
    path = tmp_path / "a.npy"
    np.save(path, np.arange(600 * 500, dtype="f4").reshape(600, 500))
    return path
