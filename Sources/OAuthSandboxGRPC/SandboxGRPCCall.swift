public import OAuthSandbox
public import SQBasics
public import SQFoundation
import SQLoopbackHTTP2

/// A call that the server received, for a test to inspect.
///
/// Its description shows only the method, because the metadata may contain a token.
public struct SandboxGRPCCall: Sendable, Hashable {
  /// The call's path, such as `/grpc.testing.TestService/UnaryCall`.
  public let method: String
  /// The metadata in order, including the protocol's own fields, such as `content-type`.
  ///
  /// The names are in lower case.
  public let metadata: [SandboxParameter]
  /// The date when the call arrived, on the sandbox's clock.
  public let date: Date

  init(_ exchange: HTTP2Exchange, date: Date) {
    method = exchange[":path"] ?? ""
    metadata = exchange.fields.filter { !$0.name.hasPrefix(":") }
      .map { SandboxParameter(name: $0.name, value: $0.value) }
    self.date = date
  }

  /// Returns the value of the metadata with this name, or `nil` if it is missing or repeated.
  public func metadata(_ name: String) -> String? {
    let values = metadata.filter { $0.name == name.lowercased() }
    return values.count == 1 ? values[0].value : nil
  }

  /// The call's token with the scheme `Bearer`; `nil` if `authorization` is missing, has another
  /// scheme or occurs more than once.
  public var bearerToken: String? {
    metadata("authorization").flatMap(SandboxRequest.bearerToken)
  }

  /// The call's token with the scheme `DPoP`; `nil` if `authorization` is missing, has another
  /// scheme or occurs more than once.
  public var boundToken: String? {
    metadata("authorization").flatMap(SandboxRequest.boundToken)
  }

  /// The proof of possession in the metadata `dpop`.
  ///
  /// It is `nil` if the metadata is missing, occurs more than once or contains no JWT.
  public var proof: SandboxProof? { metadata("dpop").flatMap(SandboxProof.init) }
}

extension SandboxGRPCCall: Redacted {
  /// The method, without the metadata, which may contain a token.
  public var description: String { method }
}

/// The newest calls; a server may run for days, so there is a limit.
final class CallLog: Sendable {
  /// The maximum number of calls to keep; when there are more, the oldest tenth is removed.
  private static let mostCalls = 10_000
  private let state = Locked<[SandboxGRPCCall]>([])

  var calls: [SandboxGRPCCall] { state.withLock(\.self) }

  func add(_ call: SandboxGRPCCall) {
    state.withLock { calls in
      calls.append(call)
      if calls.count > Self.mostCalls { calls.removeFirst(Self.mostCalls / 10) }
    }
  }

  func clear() { state.withLock { $0 = [] } }
}
