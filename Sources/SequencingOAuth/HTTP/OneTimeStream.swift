import Basics

#if canImport(FoundationEssentials)
  import FoundationEssentials
#else
  import Foundation
#endif

/// The chunks of a part that can be read once only, by whichever sending of it comes first.
final class OneTimeStream: Sendable {
  typealias Next = @Sendable () async throws -> Data?

  private let part: String
  private let next: Next
  private let isBegun = Locked(false)

  init(_ part: String, _ next: @escaping Next) {
    self.part = part
    self.next = next
  }

  /// Whether a chunk was asked for.
  var wasBegun: Bool { isBegun.withLock { $0 } }

  /// The chunks, for the first who asks.
  func begin() throws(SQOAuthError) -> Next {
    let wasBegun = isBegun.withLock { isBegun in
      defer { isBegun = true }
      return isBegun
    }
    if wasBegun { throw notReplayable }
    return next
  }

  /// Why the form cannot be sent any more.
  var notReplayable: SQOAuthError {
    SQOAuthError(
      .bodyNotReplayable,
      "the part \(part) is a stream that can be read once, and an earlier attempt to send it has "
        + "begun to; make the form anew, or give the part a maker of chunks")
  }
}
