/// The progress of an upload or a download, over all of its attempts.
///
/// ``fraction`` never falls from one report to the next. It is 1 only in the last report of a
/// transfer that succeeds.
public struct TransferProgress: Sendable, Hashable {
  /// The number of bytes that are done.
  ///
  /// For an upload, the framing of a form counts too. For a download, the bytes that an earlier
  /// call has received count too.
  public let completed: Int64
  /// The number of bytes in all; `nil` if it is not known.
  public let total: Int64?

  /// Makes a value from the number of bytes that are done and of all bytes.
  public init(completed: Int64, total: Int64?) {
    self.completed = completed
    self.total = total
  }

  /// The part that is done, from 0 to 1; `nil` if the total is not known.
  ///
  /// If the total is 0, the part is 1.
  public var fraction: Double? {
    total.map { $0 > 0 ? Double(completed) / Double($0) : 1 }
  }
}
