public import SQBasics
public import SequencingOAuth

#if canImport(FoundationEssentials)
  public import FoundationEssentials
#else
  public import Foundation
#endif

/// How a ``Pipeline/Pipe`` uses its API: the path, the limits, the paging and the JSON coders.
public struct PipeConfiguration: Sendable {
  /// The percent-encoded path below the base URL, which may have a query; `nil` for the pipe's
  /// name.
  public var endpoint: String?
  /// The name of the JSON member that holds a record's id.
  public var recordID = "id"
  /// The time limit of a request, and of the silence in an upload or a download.
  ///
  /// A request without a transfer must end within this time. An upload or a download may take any
  /// time in all, but may stand still only for this time. `nil` means the
  /// ``ClientConfiguration/timeout`` of the client whose token the request carries. The time that a
  /// user takes to sign in does not count.
  public var timeout: Duration?
  /// The module that provides the token; `nil` for the pipeline's module.
  public var module: AuthorizationModule?
  /// The place in an answer that names the next and the previous page.
  public var paging: Paging
  /// The largest answer that is read into memory, in bytes; 16 MiB by default.
  public var maximumResponseBytes: Int64 = 16 << 20
  /// Makes a decoder; it is called once for each answer.
  public var decoder: @Sendable () -> JSONDecoder = { JSONDecoder() }
  /// Makes an encoder; it is called once for each record.
  public var encoder: @Sendable () -> JSONEncoder = { JSONEncoder() }

  /// Makes a configuration; without an endpoint, the pipe's name is its path.
  public init(endpoint: String? = nil, paging: Paging = .linkHeader) {
    self.endpoint = endpoint
    self.paging = paging
  }
}

extension PipeConfiguration: Redacted {
  /// The endpoint's path, without its query, which may hold a key.
  public var description: String {
    endpoint.map { "endpoint \($0.prefix { $0 != "?" })" } ?? "endpoint by name"
  }
}
