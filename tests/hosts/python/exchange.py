"""One HTTP request and its response, in a thread of its own."""

import http.client
import socket
import ssl
import threading
from typing import Optional

MOST_BYTES = 16 * 1024 * 1024


class Exchange:
    """`done` says when `status`, `headers` and `content` are there, or `error`: the name of an `error-code` of WASI."""

    def __init__(self, changed: threading.Condition, scheme: str, authority: str, timeout: float) -> None:
        kind = http.client.HTTPSConnection if scheme == "https" else http.client.HTTPConnection
        self.connection = kind(authority, timeout=timeout)
        self.changed = changed
        self.done = False
        self.error: Optional[str] = None
        self.status = 0
        self.headers: list[tuple[str, bytes]] = []
        self.content = b""

    def start(self, method: str, path: str, headers: dict[str, str], body: bytes) -> None:
        # A daemon: a server that does not answer must not keep the host alive.
        threading.Thread(target=self._run, args=(method, path, headers, body), daemon=True).start()

    def abort(self) -> None:
        if not self.done and self.connection.sock is not None:
            try:
                self.connection.sock.shutdown(socket.SHUT_RDWR)
            except OSError:
                pass  # it ended by itself meanwhile

    def _run(self, method: str, path: str, headers: dict[str, str], body: bytes) -> None:
        try:
            self.connection.request(method, path, body, headers)
            # Redirects are not followed: what they lead to was not allowed.
            response = self.connection.getresponse()
            self.status = response.status
            self.headers = [(name.lower(), value.encode("latin-1")) for name, value in response.getheaders()]
            self.content = response.read(MOST_BYTES + 1)
            if len(self.content) > MOST_BYTES:
                self.error = "HTTP-response-incomplete"
        except ConnectionRefusedError:
            self.error = "connection-refused"
        except socket.gaierror:
            self.error = "destination-unavailable"
        except ssl.SSLError:
            self.error = "TLS-protocol-error"
        except TimeoutError:
            self.error = "HTTP-response-timeout"
        except (OSError, http.client.HTTPException, ValueError):
            self.error = "connection-terminated"
        finally:
            self.connection.close()
            with self.changed:
                self.done = True
                self.changed.notify_all()
