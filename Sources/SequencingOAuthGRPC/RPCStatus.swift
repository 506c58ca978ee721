/// How a call ended.
///
/// - SeeAlso: gRPC's `doc/statuscodes.md`
public struct RPCStatus: RawRepresentable, Hashable, Sendable {
  /// The number, as it is on the wire: 0 to 16.
  public let rawValue: Int

  /// Wraps a number; one that gRPC does not know means ``unknown`` to whoever receives it.
  public init(rawValue: Int) {
    self.rawValue = rawValue
  }

  /// 0: it did what it was to do.
  public static let ok = Self(rawValue: 0)
  /// 1: the caller cancelled it.
  public static let cancelled = Self(rawValue: 1)
  /// 2: nothing more is known.
  public static let unknown = Self(rawValue: 2)
  /// 3: the request makes no sense, whatever the state of the system.
  public static let invalidArgument = Self(rawValue: 3)
  /// 4: the time was up; the server may have done its work all the same.
  public static let deadlineExceeded = Self(rawValue: 4)
  /// 5: what was asked for does not exist.
  public static let notFound = Self(rawValue: 5)
  /// 6: what was to be made exists.
  public static let alreadyExists = Self(rawValue: 6)
  /// 7: the caller is known and may not do this.
  public static let permissionDenied = Self(rawValue: 7)
  /// 8: a limit was reached, on messages, memory or requests.
  public static let resourceExhausted = Self(rawValue: 8)
  /// 9: the system is not in the state that this needs.
  public static let failedPrecondition = Self(rawValue: 9)
  /// 10: another change came in between.
  public static let aborted = Self(rawValue: 10)
  /// 11: behind the end of what there is.
  public static let outOfRange = Self(rawValue: 11)
  /// 12: the server does not know the method, or cannot do it.
  public static let unimplemented = Self(rawValue: 12)
  /// 13: one side broke the protocol, or an invariant.
  public static let `internal` = Self(rawValue: 13)
  /// 14: the server is out of reach for now.
  public static let unavailable = Self(rawValue: 14)
  /// 15: data is lost or damaged for good.
  public static let dataLoss = Self(rawValue: 15)
  /// 16: the caller's credential is missing or no good.
  public static let unauthenticated = Self(rawValue: 16)

  private static let names = [
    "OK", "CANCELLED", "UNKNOWN", "INVALID_ARGUMENT", "DEADLINE_EXCEEDED", "NOT_FOUND",
    "ALREADY_EXISTS", "PERMISSION_DENIED", "RESOURCE_EXHAUSTED", "FAILED_PRECONDITION", "ABORTED",
    "OUT_OF_RANGE", "UNIMPLEMENTED", "INTERNAL", "UNAVAILABLE", "DATA_LOSS", "UNAUTHENTICATED",
  ]

  /// Whether gRPC knows the number.
  var isKnown: Bool { Self.names.indices.contains(rawValue) }
}

extension RPCStatus: CustomStringConvertible {
  /// The name in gRPC's spelling: `UNAUTHENTICATED`.
  public var description: String { isKnown ? Self.names[rawValue] : "CODE_\(rawValue)" }
}
