"""``separatrix lab`` as a process of its own, for tests."""

from __future__ import annotations

import http.client
import json
import re
import subprocess
import sys
import time
from contextlib import contextmanager


class Lab:
    """A server that runs; ``ask`` sends one request."""

    def __init__(self, address):
        found = re.fullmatch(r"http://(127\.0\.0\.1):([0-9]+)/#token=([\w-]+)", address)
        self.address, self.host, self.port, self.token = address, found[1], int(found[2]), found[3]

    def ask(self, path, body=None, **headers):
        """Status, headers and content; headers given replace those of an honest page, and None leaves one out."""
        own = {"Host": f"{self.host}:{self.port}", "X-Separatrix-Token": self.token}
        own = {name: value for name, value in (own | headers).items() if value is not None}
        connection = http.client.HTTPConnection(self.host, self.port, timeout=60)
        try:
            sent = body if body is None or isinstance(body, bytes) else json.dumps(body).encode()
            connection.putrequest("GET" if body is None else "POST", path, skip_host=True, skip_accept_encoding=True)
            for name, value in own.items():
                connection.putheader(name, value)
            if sent is not None:
                connection.putheader("Content-Length", str(len(sent)))
            connection.endheaders(sent)
            response = connection.getresponse()
            return response.status, dict(response.getheaders()), response.read()
        finally:
            connection.close()


@contextmanager
def lab_server(*arguments):
    command = [sys.executable, "-m", "separatrix", "lab", "--no-browser", *arguments]
    process = subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
    try:
        address = process.stdout.readline().removeprefix("the lab: ").strip()
        made = Lab(address)
        for _ in range(200):
            try:
                made.ask("/")
                break
            except ConnectionRefusedError:
                time.sleep(0.05)
        yield made
    finally:
        process.terminate()
        process.communicate(timeout=30)
