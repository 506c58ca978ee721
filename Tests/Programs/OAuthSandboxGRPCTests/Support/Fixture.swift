import Foundation
import OAuthSandbox
import OAuthSandboxGRPC
import SequencingOAuth
import SequencingOAuthGRPC
import TestSupport
import Testing

/// A sandbox with a gRPC server.
struct Fixture: Sendable {
  let sandbox: SandboxServer
  let server: SandboxGRPCServer

  /// Runs `body` with a server and a sandbox, and stops both afterwards.
  ///
  /// Without a given sandbox, the function starts a new one.
  static func running(
    on sandbox: SandboxServer? = nil, scope: String? = nil,
    isolation: isolated (any Actor)? = #isolation,
    _ body: (Fixture) async throws -> Void
  ) async throws {
    let sandbox = if let sandbox { sandbox } else { try await SandboxServer.start() }
    let server = try SandboxGRPCServer(of: sandbox, scope: scope)
    let outcome: Result<Void, any Error>
    do {
      outcome = .success(try await body(Fixture(sandbox: sandbox, server: server)))
    } catch {
      outcome = .failure(error)
    }
    await server.stop()
    await sandbox.stop()
    try outcome.get()
  }

  var port: UInt16 { UInt16(server.url.port ?? 0) }

  /// Creates a channel to the server; the channel ignores the environment's proxies.
  func channel(
    _ credential: RPCCredential = .none, options: RPCOptions = RPCOptions()
  ) throws -> RPCChannel {
    var configuration = HTTPTransportConfiguration()
    configuration.proxy = .none
    return try RPCChannel(
      url: server.url, credential: credential, options: options, configuration: configuration)
  }

  /// Creates a channel whose calls carry a new token.
  func authorizedChannel(options: RPCOptions = RPCOptions()) throws -> RPCChannel {
    try channel(.accessToken(sandbox.issueTokens().accessToken), options: options)
  }
}

/// The methods of the test service.
///
/// The tests encode their messages themselves.
enum Method {
  static let unaryCall = "/grpc.testing.TestService/UnaryCall"
  static let stream = "/grpc.testing.TestService/StreamingOutputCall"
}

/// A request for both facts that `UnaryCall` can return: the user and the scope.
let everything = Data([0x20, 1, 0x28, 1])

/// Returns a request for a stream of messages, each with its size and the pause before it.
func streamRequest(_ responses: [(size: Int, microseconds: Int)]) -> Data {
  responses.reduce(into: Data()) { data, response in
    let parameters = [0x08] + varint(response.size) + [0x10] + varint(response.microseconds)
    data += [0x12] + varint(parameters.count) + parameters
  }
}

func varint(_ value: Int) -> [UInt8] {
  var (rest, bytes) = (UInt64(bitPattern: Int64(value)), [UInt8]())
  while rest >= 128 {
    bytes.append(UInt8(rest & 127) | 128)
    rest >>= 7
  }
  return bytes + [UInt8(rest)]
}

/// The text fields of an answer and the bytes of its payload.
struct Answer: Equatable {
  var user: String?
  var scope: String?
  var payload: Data?

  init(user: String? = nil, scope: String? = nil, payload: Data? = nil) {
    self.user = user
    self.scope = scope
    self.payload = payload
  }

  init(_ message: Data) throws {
    for (number, content) in try Self.fields(message) {
      switch number {
      case 1: payload = try Self.fields(content).first { $0.number == 2 }?.content
      case 2: user = String(decoding: content, as: UTF8.self)
      case 3: scope = String(decoding: content, as: UTF8.self)
      default: throw NotAnAnswer()
      }
    }
  }

  private static func fields(_ message: Data) throws -> [(number: Int, content: Data)] {
    var (rest, fields) = ([UInt8](message)[...], [(Int, Data)]())
    func number() throws -> Int {
      var (value, shift) = (0, 0)
      while let byte = rest.popFirst() {
        value |= Int(byte & 127) << shift
        if byte < 128 { return value }
        shift += 7
      }
      throw NotAnAnswer()
    }
    while !rest.isEmpty {
      let (key, count) = (try number(), try number())
      guard key & 7 == 2, rest.count >= count else { throw NotAnAnswer() }
      fields.append((key >> 3, Data(rest.prefix(count))))
      rest = rest.dropFirst(count)
    }
    return fields
  }

  struct NotAnAnswer: Error {}
}

/// Runs a closure that must fail with an ``RPCCallError`` of a status, and returns the error.
@discardableResult
func rpcFailure<Value>(
  _ status: RPCStatus, isolation: isolated (any Actor)? = #isolation,
  of body: () async throws -> Value
) async throws -> RPCCallError {
  guard let error = await failure(as: RPCCallError.self, of: body) else { throw NoFailure() }
  guard error.status == status else { throw error }
  return error
}

struct NoFailure: Error {}
