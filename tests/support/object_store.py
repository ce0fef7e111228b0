"""A server that speaks S3, of a test's own: it checks signatures, and can be held and killed."""

import json
import os
import signal
import socket
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

from botocore.session import get_session
from postgres_servers import free_port

BUCKET = "kept-files"
UNCHECKED = 4
"""Requests before the server checks who sends them: they make the bucket and its user."""
_SERVE = "import sys; from moto.server import main; main(sys.argv[1:])"
_EVERYTHING = {
    "Version": "2012-10-17",
    "Statement": [{"Effect": "Allow", "Action": "s3:*", "Resource": "*"}],
}


class ObjectStore:
    """A running server with a bucket."""

    def __init__(self) -> None:
        self.port = free_port()
        self.url = f"http://127.0.0.1:{self.port}"
        self._process: subprocess.Popen[bytes] | None = None
        self._key, self._secret = "unchecked", "unchecked"

    @property
    def variables(self) -> dict[str, str]:
        """For a gateway that keeps files there."""
        return {
            "GATEWAY_OBJECT_STORE_BUCKET": BUCKET,
            "GATEWAY_OBJECT_STORE_ENDPOINT": self.url,
            "GATEWAY_OBJECT_STORE_ACCESS_KEY_ID": self._key,
            "GATEWAY_OBJECT_STORE_SECRET_ACCESS_KEY": self._secret,
            "PLUGIN_EXTENSION_OBJECT_STORE_WAIT_SECONDS": "10",
        }

    def start(self) -> None:
        environment = {**os.environ, "INITIAL_NO_AUTH_ACTION_COUNT": str(UNCHECKED)}
        command = [sys.executable, "-c", _SERVE, "-H", "127.0.0.1", "-p", str(self.port)]
        quiet = subprocess.DEVNULL
        self._process = subprocess.Popen(command, env=environment, stdout=quiet, stderr=quiet)
        end = time.monotonic() + 60
        while not self._accepts():
            assert self._process.poll() is None
            assert time.monotonic() < end
            time.sleep(0.05)
        iam = self._client("iam")
        iam.create_user(UserName="gateway")
        policy = json.dumps(_EVERYTHING)
        iam.put_user_policy(UserName="gateway", PolicyName="all", PolicyDocument=policy)
        made = iam.create_access_key(UserName="gateway")["AccessKey"]
        self._client("s3").create_bucket(Bucket=BUCKET)
        self._key, self._secret = made["AccessKeyId"], made["SecretAccessKey"]

    def objects(self) -> list[str]:
        """Names of what is kept."""
        listed = self._client("s3").list_objects_v2(Bucket=BUCKET)
        return [each["Key"] for each in listed.get("Contents", ())]

    def unfinished(self) -> list[str]:
        """Names of what is being written in parts."""
        listed = self._client("s3").list_multipart_uploads(Bucket=BUCKET)
        return [each["Key"] for each in listed.get("Uploads", ())]

    def hold(self) -> None:
        """Let it answer no more, without closing a connection."""
        assert self._process is not None
        self._process.send_signal(signal.SIGSTOP)

    def release(self) -> None:
        assert self._process is not None
        self._process.send_signal(signal.SIGCONT)

    def kill(self) -> None:
        assert self._process is not None
        self._process.kill()
        self._process.wait(20)

    def _client(self, service: str) -> Any:
        return get_session().create_client(
            service,
            region_name="us-east-1",
            endpoint_url=self.url,
            aws_access_key_id=self._key,
            aws_secret_access_key=self._secret,
        )

    def _accepts(self) -> bool:
        try:
            socket.create_connection(("127.0.0.1", self.port), timeout=1).close()
        except OSError:
            return False
        return True


@contextmanager
def object_store() -> Iterator[ObjectStore]:
    store = ObjectStore()
    store.start()
    try:
        yield store
    finally:
        store.kill()
