/// How far an upload or a download is, over all of its attempts.
///
/// From one statement to the next ``fraction`` does not fall. It is 1 in the last one of a transfer
/// that succeeds, and in no other.
public struct TransferProgress: Sendable, Hashable {
  /// The bytes that are done: of an upload the form's framing counts too, of a download what an
  /// earlier call has brought.
  public let completed: Int64
  /// The bytes in all, where that is known.
  public let total: Int64?

  /// Makes a statement of progress.
  public init(completed: Int64, total: Int64?) {
    self.completed = completed
    self.total = total
  }

  /// The part that is done, from 0 to 1, where the total is known; nothing is the whole of nothing.
  public var fraction: Double? {
    total.map { $0 > 0 ? Double(completed) / Double($0) : 1 }
  }
}
