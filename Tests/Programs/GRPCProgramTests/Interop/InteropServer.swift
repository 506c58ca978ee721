import Foundation
import ProgramSupport
import SequencingOAuth
import TestSupport
import Testing

@testable import GRPCSupport
@testable import SequencingOAuthGRPC

/// A server of another implementation, in clear or over TLS.
struct InteropKind: Sendable, CustomTestStringConvertible {
  let program: GRPCServer.Program
  var isSecure = false

  static let grpcGo = Self(program: .interopOnGRPCGo)
  static let all = [
    Self(program: .interopOnGRPCIO), Self(program: .interopOnGRPCIO, isSecure: true),
    grpcGo, Self(program: .interopOnGRPCGo, isSecure: true),
  ]

  var testDescription: String {
    (program == .interopOnGRPCGo ? "grpc-go" : "grpcio") + (isSecure ? " over TLS" : "")
  }

  /// Runs a body with a server, which ends with it.
  func running(
    userInfo: URL? = nil, options: [String] = [], _ body: (InteropServer) async throws -> Void
  ) async throws {
    let certificates = isSecure ? try await Certificates() : nil
    try await GRPCServer.running(
      program, certificates: certificates, userInfo: userInfo, options: options
    ) { server in
      try await body(InteropServer(process: server, configuration: .trusting(certificates)))
    }
  }
}

/// A server that runs, and how a client reaches it.
struct InteropServer: Sendable {
  let process: GRPCServer
  let configuration: HTTPClientConfiguration

  func channel(
    credential: RPCCredential = .none, _ change: (inout RPCOptions) -> Void = { _ in }
  ) throws -> RPCChannel {
    var options = RPCOptions()
    change(&options)
    return try RPCChannel(
      url: process.url, credential: credential, options: options, configuration: configuration)
  }

  /// The number of connections so far that grpc-go has announced.
  var connections: Int { process.lines.count { $0.hasPrefix("CONNECTION ") } }
}

extension RPCChannel {
  /// Calls `UnaryCall` as an app does.
  func unaryCall(_ request: SimpleRequest) async throws -> SimpleResponse {
    try await unary(.interopUnary, request)
  }

  /// A call of `StreamingInputCall` that is not started.
  func streamingInputCall() throws -> RPCCall {
    try call(method("StreamingInputCall"), kind: .clientStreaming)
  }

  /// A call of `StreamingOutputCall` that is not started.
  func streamingOutputCall(_ request: OutputRequest) throws -> RPCCall {
    try call(method("StreamingOutputCall"), request: request.fields.bytes, kind: .serverStreaming)
  }

  /// A call of `FullDuplexCall` that is not started.
  func fullDuplexCall() throws -> RPCCall {
    try call(method("FullDuplexCall"), kind: .bidirectional)
  }
}

extension RPCCall {
  /// Sends a message of the interoperability tests.
  func send(_ request: some InteropRequest) async throws {
    try await send(request.fields.bytes)
  }

  /// The responses of `StreamingOutputCall` and `FullDuplexCall`.
  var outputs: RPCMessages<InteropResponseCodec<OutputResponse>> {
    messages(as: InteropResponseCodec())
  }

  /// The size of each response's payload, until the call has ended.
  func outputSizes() async throws -> [Int] {
    var sizes: [Int] = []
    for try await output in outputs {
      #expect(output.payload.allSatisfy { $0 == 0 })
      sizes.append(output.payload.count)
    }
    return sizes
  }

  /// The response of `StreamingInputCall`.
  func inputSize() async throws -> Int {
    try await response(as: InteropResponseCodec<InputResponse>()).aggregatedPayloadSize
  }

  /// Whether each message of the server comes compressed, until the call has ended.
  ///
  /// Apps do not see that, so this reads what the transport has put into the call's inbox.
  func compressedFlags() async throws -> [Bool] {
    try start()
    var flags: [Bool] = []
    while let frame = try await inbox?.next()?.get() { flags.append(frame.isCompressed) }
    return flags
  }
}

extension Data {
  /// Bytes that no compression makes smaller.
  static func noise(_ count: Int) -> Data {
    Data((0..<count).map { _ in UInt8.random(in: 0...255) })
  }
}
