import GRPCValueSupport
import SequencingOAuthGRPC
import TestSupport
import Testing

/// Bytes that a server sends after a request, and their effect on the call and the connection.
struct Offence: Sendable, CustomTestStringConvertible {
  /// What the client ends because of an offence.
  enum Scope: Sendable {
    /// The client gives up the connection, and tells the server why.
    case connection
    /// The call ends, and the connection stays in use.
    case stream
  }

  let name: String
  let scope: Scope
  /// The error code that the server gets (RFC 9113, section 7).
  let code: HTTP2Code
  let bytes: [UInt8]

  /// Creates an offence with the error code PROTOCOL_ERROR.
  init(_ name: String, _ scope: Scope, _ bytes: [UInt8]) {
    self.init(name, scope, .protocolError, bytes)
  }

  init(_ name: String, _ scope: Scope, _ code: HTTP2Code, _ bytes: [UInt8]) {
    self.name = name
    self.scope = scope
    self.code = code
    self.bytes = bytes
  }

  var testDescription: String { name }

  /// Expects that the bytes make a call fail as `scope` and `code` say, and that a later call
  /// succeeds.
  func check(kind: RPCCall.Kind = .unary) async throws {
    try await HostileServer.once(.afterRequest(.send(bytes))) { server in
      let channel = try server.channel()
      let error = await rpcFailure(scope == .connection ? .unavailable : .internal) {
        try await channel.outcome(of: kind)
      }
      #expect(error?.message.contains("does not keep to HTTP/2: ") == true)
      #expect(error?.message.contains(server.authority) == true)
      #expect(error?.isFromServer == false)
      #expect(try await channel.test("Good").response().isEmpty)
      #expect(server.connectionCount == (scope == .connection ? 2 : 1))
      try await eventually("the server gets the error code") { server.log().code(of: scope) != nil }
      #expect(server.log().code(of: scope).map(HTTP2Code.init) == code)
      if scope == .connection {
        try await eventually("the connection is closed") { server.log().isOver }
      }
    }
  }
}

extension HostileConnection.Log {
  /// Returns the error code that the client sent for the connection, or for the first stream.
  fileprivate func code(of scope: Offence.Scope) -> UInt32? {
    scope == .connection ? goAway : reset()
  }
}

extension RPCChannel {
  /// Makes a call, and waits for its end.
  func outcome(of kind: RPCCall.Kind) async throws {
    let call = try test("Bad", "request", kind: kind)
    if kind == .unary {
      _ = try await call.response()
    } else {
      for try await _ in call.messages {}
    }
  }
}

/// An error code of HTTP/2.
struct HTTP2Code: Hashable, Sendable {
  let number: UInt32

  init(_ number: UInt32) { self.number = number }

  static let protocolError = Self(1)
  static let internalError = Self(2)
  static let flowControlError = Self(3)
  static let streamClosed = Self(5)
  static let frameSizeError = Self(6)
  static let cancel = Self(8)
  static let compressionError = Self(9)
  static let enhanceYourCalm = Self(11)
}

extension Offence {
  /// Invalid windows: RFC 9113, section 6.9.
  static let windows = [
    Offence("a window update of 0", .connection, Bytes.windowUpdate(0)),
    Offence("a window update of 0 on a stream", .connection, Bytes.windowUpdate(0, stream: 1)),
    Offence(
      "a window of 2^31", .connection, .flowControlError, Bytes.windowUpdate((1 << 31) - 1)),
    Offence(
      "a window of 2^31 on a stream", .stream, .flowControlError,
      Bytes.windowUpdate((1 << 31) - 1, stream: 1)),
    // The standard requires the end of the connection here, but the client ends only the stream.
    Offence(
      "a window of 2^31 because of a setting", .stream, .flowControlError,
      Bytes.windowUpdate((1 << 31) - 1 - 65_535, stream: 1) + Bytes.settings((4, 70_000))),
  ]
}
