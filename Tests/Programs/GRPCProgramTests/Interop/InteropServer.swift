import Foundation
import ProgramSupport
import SequencingOAuth
import TestSupport
import Testing

@testable import GRPCSupport
@testable import SequencingOAuthGRPC

/// A kind of server: another implementation of gRPC, unencrypted or with TLS.
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

  /// Runs `body` with a server and stops it afterwards.
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

/// A running server, and how a client reaches it.
struct InteropServer: Sendable {
  let process: GRPCServer
  let configuration: HTTPTransportConfiguration

  func channel(
    credential: RPCCredential = .none, _ change: (inout RPCOptions) -> Void = { _ in }
  ) throws -> RPCChannel {
    var options = RPCOptions()
    change(&options)
    return try RPCChannel(
      url: process.url, credential: credential, options: options, configuration: configuration)
  }

  /// The number of connections that grpc-go has reported so far.
  var connections: Int { process.lines.count { $0.hasPrefix("CONNECTION ") } }
}

extension RPCChannel {
  /// Calls `UnaryCall` as an app does.
  func unaryCall(_ request: SimpleRequest) async throws -> SimpleResponse {
    try await unary(.interopUnary, request)
  }

  /// Creates a call of `StreamingInputCall` without starting it.
  func streamingInputCall() throws -> RPCCall {
    try call(method("StreamingInputCall"), kind: .clientStreaming)
  }

  /// Creates a call of `StreamingOutputCall` without starting it.
  func streamingOutputCall(_ request: OutputRequest) throws -> RPCCall {
    try call(method("StreamingOutputCall"), request: request.fields.bytes, kind: .serverStreaming)
  }

  /// Creates a call of `FullDuplexCall` without starting it.
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

  /// Reads the responses until the call ends, and returns the size of each payload.
  func outputSizes() async throws -> [Int] {
    var sizes: [Int] = []
    for try await output in outputs {
      #expect(output.payload.allSatisfy { $0 == 0 })
      sizes.append(output.payload.count)
    }
    return sizes
  }

  /// Returns the total payload size that the response of `StreamingInputCall` reports.
  func inputSize() async throws -> Int {
    try await response(as: InteropResponseCodec<InputResponse>()).aggregatedPayloadSize
  }

  /// Starts the call, reads it to its end, and returns whether each message was compressed.
  ///
  /// Apps cannot see the compression, so the method reads the call's inbox.
  func compressedFlags() async throws -> [Bool] {
    try start()
    var flags: [Bool] = []
    while let frame = try await inbox?.next()?.get() { flags.append(frame.isCompressed) }
    return flags
  }
}

extension Data {
  /// Returns bytes that cannot be compressed.
  static func noise(_ count: Int) -> Data {
    Data((0..<count).map { _ in UInt8.random(in: 0...255) })
  }
}
