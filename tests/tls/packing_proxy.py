"""A proxy that terminates TLS for a server, and packs its answers together as such proxies do."""
import select
import socket
import ssl
import threading

IDLE = 0.02  # seconds without an answer after which those that came are sent


class PackingProxy:
    """Serves connections one after another until it is closed."""

    def __init__(self, certificate, server):
        self.server = server
        self.context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
        self.context.load_cert_chain(certificate)
        self.listener = socket.create_server(("127.0.0.1", 0))
        threading.Thread(target=self._serve, daemon=True).start()

    @property
    def address(self):
        return f"127.0.0.1:{self.listener.getsockname()[1]}"

    def close(self):
        self.listener.shutdown(socket.SHUT_RDWR)
        self.listener.close()

    def _serve(self):
        while True:
            try:
                connection = self.listener.accept()[0]
            except OSError:
                return
            try:
                host, port = self.server.split(":")
                with self.context.wrap_socket(connection, server_side=True) as client, \
                        socket.create_connection((host, int(port))) as server:
                    self._pass_on(client, server)
            except OSError:
                pass

    @staticmethod
    def _pass_on(client, server):
        while True:
            ready = [client] if client.pending() else select.select([client, server], [], [])[0]
            if client in ready:
                data = client.recv(65536)
                if not data:
                    return
                server.sendall(data)
            elif server in ready:
                packed = b""
                # A record holds 16 KiB.
                while len(packed) < 12000 and select.select([server], [], [], IDLE)[0]:
                    data = server.recv(4000)
                    if not data:
                        return
                    packed += data
                client.sendall(packed)
