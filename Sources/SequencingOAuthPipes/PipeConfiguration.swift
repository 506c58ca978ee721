public import SQBasics
public import SQFoundation
public import SequencingOAuth

/// The settings of a ``Pipeline/Pipe``: its path, limits, paging and JSON coders.
public struct PipeConfiguration: Sendable {
  /// The percent-encoded path below the base URL, with an optional query.
  ///
  /// If it is `nil`, the path is the pipe's name.
  public var endpoint: String?
  /// The name of the JSON member that contains a record's id.
  public var recordID = "id"
  /// The time limit of a request; in an upload or a download, the limit on time without data.
  ///
  /// An ordinary request must end within this time. An upload or a download has no limit on its
  /// total time, but ends if no byte moves for this time. `nil`, the default, means the
  /// `ClientConfiguration.timeout` of the pipe's client. In a `WebRequest`, `nil` means no limit;
  /// in a pipe, set a long time instead. The time that a user needs to sign in does not count.
  public var timeout: Duration?
  /// The module that provides the token; `nil` for the pipeline's module.
  public var module: AuthorizationModule?
  /// The way a response names the next and the previous page.
  public var paging: Paging
  /// The maximum size of a response that is read into memory, in bytes; 16 MiB by default.
  public var maximumResponseBytes: Int64 = 16 << 20
  /// A closure that creates a decoder; the SDK calls it once for each response.
  ///
  /// If the decoder allows JSON5, the SDK's limits do not apply to a response that is not plain
  /// JSON.
  public var decoder: @Sendable () -> JSONDecoder = { JSONDecoder() }
  /// A closure that creates an encoder; the SDK calls it once for each record.
  public var encoder: @Sendable () -> JSONEncoder = { JSONEncoder() }

  /// Creates a configuration; without an endpoint, the pipe's name is its path.
  public init(endpoint: String? = nil, paging: Paging = .linkHeader) {
    self.endpoint = endpoint
    self.paging = paging
  }
}

extension PipeConfiguration: Redacted {
  /// The endpoint's path without the query, because the query may contain a key.
  public var description: String {
    endpoint.map { "endpoint \($0.prefix { $0 != "?" })" } ?? "endpoint by name"
  }
}
