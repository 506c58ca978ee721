"""What both MCP servers share: their options, their address, and how they are run."""
import argparse
import os
import signal
import socket
import sys
import threading

import uvicorn


class Options(argparse.ArgumentParser):
    """The options of a server. Scopes are one argument, separated by spaces, as in OAuth."""

    def __init__(self, description):
        super().__init__(
            description=description, formatter_class=argparse.RawDescriptionHelpFormatter)
        self.add_argument("--path", default="/mcp", help="the path of the MCP endpoint")
        self.add_argument(
            "--scopes", default="", type=str.split, help="the scopes that every request needs")
        self.add_argument(
            "--later", default="", type=str.split, help="further scopes needed after SIGHUP")
        self.add_argument(
            "--lifetime", type=int, default=3600, help="the lifetime of access tokens in seconds")
        self.add_argument(
            "--json", action="store_true", help="answer with JSON instead of event streams")

    def parse(self, *further):
        """Returns the options, with the server's socket and origin, on a free loopback port.

        A client may register the scopes of the options, and those in `further`."""
        options = self.parse_args()
        options.offered = [*options.scopes, *options.later, *further]
        options.socket = socket.create_server(("127.0.0.1", 0))
        options.origin = f"http://127.0.0.1:{options.socket.getsockname()[1]}"
        return options


class Server(uvicorn.Server):
    """A server that prints its port when it is ready."""

    async def startup(self, sockets=None):
        await super().startup(sockets)
        say(f"PORT={sockets[0].getsockname()[1]}")


def say(*words):
    # In one write, because a signal may come between two.
    os.write(1, (" ".join(map(str, words)) + "\n").encode())


def printing(app):
    """Returns an app that also prints a line for each answer: its status, the method, the path."""

    async def wrapped(scope, receive, send):
        async def told(message):
            if message["type"] == "http.response.start":
                say(message["status"], scope["method"], scope["path"])
            await send(message)

        await app(scope, receive, told if scope["type"] == "http" else send)

    return wrapped


def demand(app, scopes):
    """Makes the package's middleware require more scopes, and prints NEEDS with all of them."""
    for route in app.routes:
        needed = getattr(route.endpoint, "required_scopes", None)
        if needed is not None:
            needed.extend(scope for scope in scopes if scope not in needed)
            say("NEEDS", *needed)


def end_with_input():
    sys.stdin.buffer.read()
    # At once, also with open event streams.
    os._exit(0)


def serve(app, options):
    signal.signal(signal.SIGHUP, lambda *_: demand(app, options.later))
    threading.Thread(target=end_with_input, daemon=True).start()
    Server(uvicorn.Config(printing(app), log_level="warning")).run(sockets=[options.socket])
