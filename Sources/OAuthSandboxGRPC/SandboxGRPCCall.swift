public import OAuthSandbox
public import SQBasics
import SQLoopbackHTTP2

#if canImport(FoundationEssentials)
  public import FoundationEssentials
#else
  public import Foundation
#endif

/// A call that the server received, for a test to inspect.
///
/// Printing it shows only the method, since the metadata may contain a token.
public struct SandboxGRPCCall: Sendable, Hashable {
  /// The method of the call as the client named it: `/` with the service, `/` with the method.
  public let method: String
  /// The metadata in order, with names in lower case, and with the fields of the protocol itself,
  /// such as `content-type`.
  public let metadata: [SandboxParameter]
  /// When the call arrived, by the sandbox's clock.
  public let date: Date

  init(_ exchange: HTTP2Exchange, date: Date) {
    method = exchange[":path"] ?? ""
    metadata = exchange.fields.filter { !$0.name.hasPrefix(":") }
      .map { SandboxParameter(name: $0.name, value: $0.value) }
    self.date = date
  }

  /// The value of the metadata with this name; `nil` if it is missing or came more than once.
  public func metadata(_ name: String) -> String? {
    let values = metadata.filter { $0.name == name.lowercased() }
    return values.count == 1 ? values[0].value : nil
  }

  /// The Bearer token of the call; `nil` if it is missing or came more than once.
  public var bearerToken: String? {
    metadata("authorization").flatMap(SandboxRequest.bearerToken)
  }
}

extension SandboxGRPCCall: Redacted {
  /// The method alone, since the metadata may contain a token.
  public var description: String { method }
}

/// The calls that have come.
final class CallLog: Sendable {
  private let state = Locked<[SandboxGRPCCall]>([])

  var calls: [SandboxGRPCCall] { state.withLock(\.self) }

  func add(_ call: SandboxGRPCCall) { state.withLock { $0.append(call) } }

  func clear() { state.withLock { $0 = [] } }
}
