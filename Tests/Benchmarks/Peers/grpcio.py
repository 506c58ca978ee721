"""Measures grpcio as a client for the SDK's benchmarks, with the commands of grpc/main.go.

The argument is the server's address.
"""
import sys
import threading
import time

import grpc

METHOD = "/grpc.testing.TestService/UnaryCall"
REQUEST = bytes([32, 1, 40, 1])
METADATA = (("authorization", "Bearer access"),)

channel = grpc.insecure_channel(sys.argv[1])
call = channel.unary_unary(METHOD)


def run(count, width):
    """Makes calls with several threads and counts the failures."""
    failures = []

    def work():
        for _ in range(count // width):
            try:
                if call(REQUEST, metadata=METADATA) != REQUEST:
                    failures.append("another answer")
            except grpc.RpcError as error:
                failures.append(error)

    if width == 1:
        work()
        return len(failures)
    threads = [threading.Thread(target=work) for _ in range(width)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    return len(failures)


for line in sys.stdin:
    count, width = map(int, line.split())
    start = time.perf_counter_ns()
    failed = run(count, width)
    print("ok", time.perf_counter_ns() - start, failed, flush=True)
