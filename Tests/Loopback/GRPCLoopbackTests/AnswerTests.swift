import Foundation
import GRPCValueSupport
import SQBasics
import SequencingOAuth
import Testing

@testable import GRPCSupport
@testable import SequencingOAuthGRPC

/// How a client interprets HTTP responses to a call, even responses that no gRPC server would send.
@Suite(.timeLimit(.minutes(1))) struct AnswerTests {
  struct Row: Sendable {
    let answer: WebResponse
    let status: RPCStatus
    var message: String?
  }

  private static func page(_ status: Int, _ fields: HeaderFields = [:]) -> WebResponse {
    WebResponse(
      status: status, headers: ["content-type": "text/html"], body: Data("<p>".utf8),
      trailers: fields)
  }

  @Test(arguments: [
    // An answer without messages has its status in the headers.
    Row(
      answer: .grpc([], headers: ["grpc-status": "7", "grpc-message": "no%20way"], trailers: [:]),
      status: .permissionDenied, message: "no way"),
    Row(
      answer: .grpc(trailers: ["grpc-status": "5", "grpc-message": "h%C3%A4"]), status: .notFound,
      message: "hä"),
    // The status in the trailers overrides the one in the headers.
    Row(
      answer: .grpc(headers: ["grpc-status": "0"], trailers: ["grpc-status": "10"]),
      status: .aborted, message: ""),
    Row(answer: .grpc(trailers: ["grpc-status": "99", "grpc-message": "x"]), status: .unknown),
    Row(answer: .grpc(trailers: ["grpc-status": "-1"]), status: .unknown),
    Row(answer: .grpc(trailers: ["grpc-status": "ok"]), status: .unknown),
    Row(answer: .grpc(trailers: ["grpc-status": ""]), status: .unknown),
    Row(answer: .grpc(trailers: [:]), status: .unknown),
    Row(answer: page(200), status: .unknown),
    Row(answer: page(400), status: .internal), Row(answer: page(401), status: .unauthenticated),
    Row(answer: page(403), status: .permissionDenied),
    Row(answer: page(404), status: .unimplemented), Row(answer: page(429), status: .unavailable),
    Row(answer: page(502), status: .unavailable), Row(answer: page(503), status: .unavailable),
    Row(answer: page(504), status: .unavailable), Row(answer: page(500), status: .unknown),
    Row(answer: page(302), status: .unknown), Row(answer: page(415), status: .unknown),
    // A gRPC status overrides the HTTP status.
    Row(answer: page(503, ["grpc-status": "8"]), status: .resourceExhausted),
    // A unary answer must be exactly one whole message.
    Row(answer: .grpc([]), status: .internal), Row(answer: .grpc([0, 0, 0]), status: .internal),
    Row(answer: .grpc([0, 0, 0, 0, 0, 0, 0, 0, 0, 0]), status: .internal),
    Row(answer: .grpc([0, 0, 0, 0, 2, 1]), status: .internal),
    Row(answer: .grpc([3, 0, 0, 0, 0]), status: .internal),
    Row(answer: .grpc([1, 0, 0, 0, 1, 1]), status: .internal),
    Row(answer: .grpc([1, 0, 0, 0, 1, 1], headers: ["grpc-encoding": "gzip"]), status: .internal),
    Row(answer: .grpc([0, 255, 0, 0, 0]), status: .resourceExhausted),
    Row(answer: page(200, ["grpc-status": "0"]), status: .internal),
  ])
  func `a call's status follows from the gRPC status, HTTP status and messages of the response`(
    row: Row
  ) async throws {
    try await ScriptedServer.answering(row.answer) { server in
      for kind in [RPCCall.Kind.unary, .clientStreaming] {
        let call = try server.channel().call(method("X"), kind: kind)
        if kind == .clientStreaming { try call.finishSending() }
        let error = await rpcFailure(row.status) { try await call.response() }
        if let message = row.message { #expect(error?.message == message) }
        #expect(error?.metadata == call.responseMetadata)
      }
    }
  }

  @Test(arguments: [
    "application/grpc", "application/grpc+proto", "APPLICATION/GRPC;x=y", "application/grpc ; x=y",
  ])
  func `a gRPC content type may have a suffix, parameters or uppercase letters`(type: String)
    async throws
  {
    let answer = WebResponse.grpc([0, 0, 0, 0, 1, 9], headers: ["content-type": type])
    try await ScriptedServer.answering(answer) { server in
      let response = try await server.channel().call(method("X")).response()
      #expect(response == Data([9]))
    }
  }

  @Test func `headers and trailers merge, and trailers override headers`() async throws {
    let answer = WebResponse.grpc(
      headers: ["x-a": "h", "x-b": "h"],
      trailers: ["grpc-status": "0", "x-b": "t1", "x-b": "t2", "x-c": "t"])
    try await ScriptedServer.answering(answer) { server in
      let call = try server.channel().call(method("X"))
      #expect(call.responseHeaders == nil && call.responseMetadata.isEmpty && call.status == nil)
      _ = try await call.response()
      let headers = try RPCMetadata(["x-a": "h", "x-b": "h"])
      let trailers = try RPCMetadata(["x-b": "t1", "x-b": "t2", "x-c": "t"])
      let both = try RPCMetadata(["x-a": "h", "x-b": "t1", "x-b": "t2", "x-c": "t"])
      #expect(call.responseHeaders == headers && call.responseTrailers == trailers)
      #expect(call.responseMetadata == both)
    }
  }

  @Test(
    arguments: [
      (.connectionFailed, .unavailable), (.tlsFailed, .unavailable), (.cancelled, .cancelled),
      (.requestTimedOut, .deadlineExceeded), (.responseTooLarge, .resourceExhausted),
      (.invalidResponse, .unavailable), (.invalidConfiguration, .failedPrecondition),
    ] as [(SQOAuthError.Code, RPCStatus)])
  func `a transport error becomes a gRPC status`(code: SQOAuthError.Code, status: RPCStatus) {
    let error = RPCCallError(transport: SQOAuthError(code, "words"))
    #expect(error.status == status && error.message == "words")
    #expect(!error.isFromServer && error.oauthError?.code == code)
  }

  @Test(
    arguments: [
      (.invalidGrant, .unauthenticated), (.notAuthorized, .unauthenticated),
      (.sessionReplaced, .unauthenticated), (.wrongPassphrase, .unauthenticated),
      (.cancelled, .cancelled),
      // A later call may get a token.
      (.connectionFailed, .unavailable), (.requestTimedOut, .unavailable),
      (.temporarilyUnavailable, .unavailable), (.storeFailed, .unavailable),
      (.accountInUse, .unavailable), (.accountChanged, .unavailable),
    ] as [(SQOAuthError.Code, RPCStatus)])
  func `if a call gets no access token, the call's error contains the reason`(
    code: SQOAuthError.Code, status: RPCStatus
  ) {
    let error = RPCCallError(credential: SQOAuthError(code, "words"))
    #expect(error.status == status && error.oauthError?.code == code)
    #expect(error.message == "there is no access token for the call: words")
  }

  @Test func `a call sends the protocol's headers besides its metadata`() async throws {
    try await ScriptedServer.answering(.grpc()) { server in
      let call = try server.channel().call(method("X"), request: Data([7]))
      try call.setTimeout(.seconds(50))
      var metadata = try RPCMetadata(["X-Key": "v"])
      try metadata.set(Data([0, 1, 255, 3]), for: "x-bin")
      try call.setRequestMetadata(metadata)
      _ = try await call.response()
      let request = try #require(server.requests.first)
      #expect(request.headers[":method"] == "POST" && request.headers[":path"] == method("X"))
      #expect(request.headers[":scheme"] == "http")
      #expect(request.headers[":authority"]?.hasPrefix("127.0.0.1:") == true)
      #expect(request.headers["content-type"] == "application/grpc")
      #expect(request.headers["te"] == "trailers" && request.headers["x-key"] == "v")
      #expect(request.headers["x-bin"] == "AAH/Aw")
      #expect(request.headers["grpc-timeout"]?.hasSuffix("u") == true)
      #expect(request.body == Data([0, 0, 0, 0, 1, 7]))
    }
  }

  @Test func `a unary call has a time limit of a minute and sends it to the server`() async throws {
    try await ScriptedServer.answering(.grpc()) { server in
      _ = try await server.channel().call(method("X")).response()
      let text = try #require(server.requests.first?.headers["grpc-timeout"])
      let microseconds = try #require(Int(text.dropLast()))
      #expect(text.hasSuffix("u") && microseconds > 0 && microseconds <= 60_000_000)
    }
  }

  @Test(
    arguments: [
      (RPCCall.Kind.unary, Duration.seconds(60), Duration.seconds(1)),
      (.serverStreaming, nil, .seconds(2)), (.clientStreaming, nil, .seconds(2)),
      (.bidirectional, nil, .seconds(2)),
    ] as [(RPCCall.Kind, Duration?, Duration)])
  func `the default time limit depends on the kind of call`(
    kind: RPCCall.Kind, standard: Duration?, chosen: Duration
  ) throws {
    var options = RPCOptions()
    func call() throws -> RPCCall {
      let url = try #require(URL(string: "https://rpc.example"))
      return try RPCChannel(url: url, options: options).call(method("X"), kind: kind)
    }
    #expect(try call().timeout == standard)
    options.timeout = .seconds(1)
    options.streamTimeout = .seconds(2)
    #expect(try call().timeout == chosen)
    let other = try call()
    try other.setTimeout(nil)
    #expect(other.timeout == nil)
  }

  @Test(arguments: ["", "X", "/X", "/a/b/c", "//b", "/a/", "/a/b?c", "/a/b c", "/a/%62"])
  func `an invalid method name is rejected`(name: String) throws {
    let url = try #require(URL(string: "https://rpc.example"))
    let channel = try RPCChannel(url: url)
    rpcFailure(.invalidArgument) { try channel.call(name) }
  }

  @Test func `a method name that Swift considers equal to the last name is still checked`() throws {
    let channel = try RPCChannel(url: try #require(URL(string: "http://127.0.0.1:1")))
    _ = try channel.call("/p.S/K")
    // The Kelvin sign, which Swift considers equal to K.
    rpcFailure(.invalidArgument) { try channel.call("/p.S/\u{212A}") }
  }

  @Test(arguments: [
    "ftp://host", "https://", "https://host/path", "https://host?x", "https://u@host",
  ])
  func `an invalid server URL is rejected`(text: String) throws {
    let url = try #require(URL(string: text))
    rpcFailure(.invalidArgument) { try RPCChannel(url: url) }
  }
}
