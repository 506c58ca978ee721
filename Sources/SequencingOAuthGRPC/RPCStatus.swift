import SequencingOAuth

/// The final status of a gRPC call.
///
/// - SeeAlso: gRPC's `doc/statuscodes.md`
public struct RPCStatus: RawRepresentable, Hashable, Sendable {
  /// The number of the status in gRPC's protocol: 0 to 16.
  public let rawValue: Int

  /// Creates a status from its number.
  ///
  /// If a server sends a number that gRPC does not define, the call ends with ``unknown``.
  public init(rawValue: Int) {
    self.rawValue = rawValue
  }

  /// 0: the call succeeded.
  public static let ok = Self(rawValue: 0)
  /// 1: the call was cancelled, usually by the caller.
  public static let cancelled = Self(rawValue: 1)
  /// 2: the call failed, and the reason is unknown.
  public static let unknown = Self(rawValue: 2)
  /// 3: the request is invalid in any state of the system.
  public static let invalidArgument = Self(rawValue: 3)
  /// 4: the call took longer than its time limit; the server may still have done the work.
  public static let deadlineExceeded = Self(rawValue: 4)
  /// 5: the requested resource does not exist.
  public static let notFound = Self(rawValue: 5)
  /// 6: the resource that the call should create already exists.
  public static let alreadyExists = Self(rawValue: 6)
  /// 7: the server knows the caller, but the caller is not allowed to do this.
  public static let permissionDenied = Self(rawValue: 7)
  /// 8: a limit was reached, for example on the size of a message, on memory or on requests.
  public static let resourceExhausted = Self(rawValue: 8)
  /// 9: the system is not in the state that the call requires.
  public static let failedPrecondition = Self(rawValue: 9)
  /// 10: the call was aborted, usually because another change happened at the same time.
  public static let aborted = Self(rawValue: 10)
  /// 11: the request goes past the valid range, for example past the end of a file.
  public static let outOfRange = Self(rawValue: 11)
  /// 12: the server does not know the method, or the method is not supported.
  public static let unimplemented = Self(rawValue: 12)
  /// 13: the client or the server broke the protocol or has an internal error.
  public static let `internal` = Self(rawValue: 13)
  /// 14: the server cannot be reached at the moment; a later attempt may succeed.
  public static let unavailable = Self(rawValue: 14)
  /// 15: data is lost or damaged and cannot be recovered.
  public static let dataLoss = Self(rawValue: 15)
  /// 16: the caller's credential is missing or invalid.
  public static let unauthenticated = Self(rawValue: 16)

  private static let names = [
    "OK", "CANCELLED", "UNKNOWN", "INVALID_ARGUMENT", "DEADLINE_EXCEEDED", "NOT_FOUND",
    "ALREADY_EXISTS", "PERMISSION_DENIED", "RESOURCE_EXHAUSTED", "FAILED_PRECONDITION", "ABORTED",
    "OUT_OF_RANGE", "UNIMPLEMENTED", "INTERNAL", "UNAVAILABLE", "DATA_LOSS", "UNAUTHENTICATED",
  ]

  /// Whether gRPC defines the number.
  var isKnown: Bool { Self.names.indices.contains(rawValue) }
}

extension RPCStatus: CustomStringConvertible {
  /// The name in gRPC's spelling, such as `UNAUTHENTICATED`, or `CODE_` and the number.
  public var description: String { isKnown ? Self.names[rawValue] : "CODE_\(rawValue)" }
}
