public import Basics

#if canImport(FoundationEssentials)
  public import FoundationEssentials
#else
  public import Foundation
#endif

/// How a ``Pipeline/Pipe`` asks its API.
public struct PipeConfiguration: Sendable {
  /// The path below the base URL, percent-encoded, perhaps with a query; `nil` for the pipe's name.
  public var endpoint: String?
  /// The member of a record that holds its id.
  public var recordID = "id"
  /// How long one request may take in all, and how long an upload or a download may stand still;
  /// `nil` for the ``ClientConfiguration/timeout`` of the client whose token is carried.
  ///
  /// The time that a user takes to sign in does not count.
  public var timeout: Duration?
  /// Whose token is carried, where it is not the pipeline's module.
  public var module: AuthorizationModule?
  /// Where an answer names the pages beside it.
  public var paging: Paging
  /// The largest answer that is read into memory, in bytes.
  public var maximumResponseBytes: Int64 = 16 << 20
  /// Makes the decoder of answers, once for each.
  public var decoder: @Sendable () -> JSONDecoder = { JSONDecoder() }
  /// Makes the encoder of records, once for each.
  public var encoder: @Sendable () -> JSONEncoder = { JSONEncoder() }

  /// Makes the configuration of a pipe whose path is its name, or another one.
  public init(endpoint: String? = nil, paging: Paging = .linkHeader) {
    self.endpoint = endpoint
    self.paging = paging
  }
}

extension PipeConfiguration: Redacted {
  /// The path, without its query, which may hold a key.
  public var description: String {
    endpoint.map { "endpoint \($0.prefix { $0 != "?" })" } ?? "endpoint by name"
  }
}
