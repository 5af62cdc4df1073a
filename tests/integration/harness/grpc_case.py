"""The test case with a real client of gRPC, which script/bootstrap installs where it is to be had."""

import unittest
from concurrent import futures

from .debian import package
from .http2_case import Http2Case


def client_library():
    try:
        return package("grpc")
    except AssertionError:
        raise unittest.SkipTest("python3-grpcio is not installed: script/bootstrap grpc") from None


class Service:
    """A server of gRPC whose every method of one message is `method(request, context)`; messages are bytes. /Echo
    returns each message of a stream, and /Count as many as the first one says."""

    def __init__(self, method):
        grpc = client_library()
        self.calls = 0

        def counted(request, context):
            self.calls += 1
            return method(request, context)

        class Methods(grpc.GenericRpcHandler):
            def service(self, call):
                if call.method.endswith("/Echo"):
                    return grpc.stream_stream_rpc_method_handler(lambda messages, _: messages)
                if call.method.endswith("/Count"):
                    return grpc.unary_stream_rpc_method_handler(lambda message, _: (b"x" * 20 for _ in range(int(message))))
                return grpc.unary_unary_rpc_method_handler(counted)

        self.server = grpc.server(futures.ThreadPoolExecutor(4), handlers=[Methods()])
        self.url = f"http://127.0.0.1:{self.server.add_insecure_port('127.0.0.1:0')}"
        self.server.start()

    def stop(self):
        self.server.stop(None).wait()


class Outcome:
    """How a call ended, whether or not it succeeded."""

    def __init__(self, call, response=None):
        self.code = call.code().name
        self.details = call.details()
        self.response = response
        self.metadata = {**dict(call.initial_metadata() or ()), **dict(call.trailing_metadata() or ())}


class GrpcCase(Http2Case):
    def channel(self, weir, options=()):
        channel = client_library().insecure_channel(f"127.0.0.1:{weir.port}", options)
        self.addCleanup(channel.close)
        return channel

    def service(self, method):
        service = Service(method)
        self.addCleanup(service.stop)
        return service

    def call(self, channel, path="/shop.Cart/Add", message=b"", timeout=30, metadata=()):
        """A call of one message in each direction. Messages are bytes."""
        try:
            response, call = channel.unary_unary(path).with_call(message, timeout=timeout, metadata=metadata)
            return Outcome(call, response)
        except client_library().RpcError as failed:
            return Outcome(failed)
