"""A proxy between two Unix sockets that cuts connections: at once, or after so many bytes from the server."""

import socket
import threading
from collections.abc import Iterable
from contextlib import suppress
from pathlib import Path
from typing import Self

CHUNK = 16_384


class CuttingProxy:
    """Forwards connections on `path` to `target`. `with` starts and stops it.

    The first number of `cuts` is the number of bytes from the target after which a connection is cut; that uses it up.
    """

    def __init__(self, path: Path, target: Path, cuts: Iterable[int] = ()) -> None:
        self.path = path
        self.cuts = list(cuts)
        self._target = target
        self._lock = threading.Lock()
        self._open: set[socket.socket] = set()
        self._listener = socket.socket(socket.AF_UNIX)

    def __enter__(self) -> Self:
        self._listener.bind(str(self.path))
        self._listener.listen(64)
        threading.Thread(target=self._accept, daemon=True).start()
        return self

    def __exit__(self, *_: object) -> None:
        with suppress(OSError):
            self._listener.shutdown(socket.SHUT_RDWR)
        self._listener.close()
        self.path.unlink(missing_ok=True)
        self.cut()

    def cut(self) -> None:
        """Cuts every connection; new ones are accepted."""
        with self._lock:
            for end in self._open:
                with suppress(OSError):
                    end.shutdown(socket.SHUT_RDWR)

    def _accept(self) -> None:
        with suppress(OSError):
            while True:
                client, _ = self._listener.accept()
                threading.Thread(target=self._serve, args=(client,), daemon=True).start()

    def _serve(self, client: socket.socket) -> None:
        with client, socket.socket(socket.AF_UNIX) as server, suppress(OSError):
            server.connect(str(self._target))
            with self._lock:
                self._open |= {client, server}
            upstream = threading.Thread(target=self._forward, args=(client, server), daemon=True)
            upstream.start()
            self._forward(server, client, may_cut=True)
            upstream.join()
            with self._lock:
                self._open -= {client, server}

    def _forward(self, source: socket.socket, sink: socket.socket, *, may_cut: bool = False) -> None:
        count = 0
        with suppress(OSError):
            while data := source.recv(CHUNK):
                count += len(data)
                if may_cut and self._take_cut(count):
                    sink.sendall(data[: len(data) // 2])
                    break
                sink.sendall(data)
        for end in (source, sink):
            with suppress(OSError):
                end.shutdown(socket.SHUT_RDWR)

    def _take_cut(self, count: int) -> bool:
        with self._lock:
            due = self.cuts[:1] and count >= self.cuts[0]
            return bool(due and self.cuts.pop(0))
