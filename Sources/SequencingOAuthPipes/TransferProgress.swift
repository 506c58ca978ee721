import SequencingOAuth

/// The progress of an upload or a download, over all of its attempts.
///
/// ``fraction`` never decreases from one report to the next. It is 1 only in the last report of a
/// successful transfer.
public struct TransferProgress: Sendable, Hashable {
  /// The number of bytes transferred so far.
  ///
  /// For an upload, this includes the framing of a form. For a download that continues an
  /// interrupted one, it includes the bytes that were already received.
  public let completed: Int64
  /// The total number of bytes; `nil` if unknown.
  public let total: Int64?

  /// Creates a value from the number of transferred bytes and the total number of bytes.
  public init(completed: Int64, total: Int64?) {
    self.completed = completed
    self.total = total
  }

  /// The completed fraction, from 0 to 1; `nil` if the total is unknown.
  ///
  /// If the total is 0, the fraction is 1.
  public var fraction: Double? {
    total.map { $0 > 0 ? Double(completed) / Double($0) : 1 }
  }
}
