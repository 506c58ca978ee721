import SQBasics
package import SQFoundation

/// A form part whose chunks can be read only once.
///
/// Only the first attempt to send the form gets the chunks.
package final class OneTimeStream: Sendable {
  package typealias Next = @Sendable () async throws -> Data?

  private let part: String
  private let next: Next
  private let isBegun = Locked(false)

  package init(_ part: String, _ next: @escaping Next) {
    self.part = part
    self.next = next
  }

  /// Whether an attempt to send the form has taken the chunks.
  package var wasBegun: Bool { isBegun.withLock { $0 } }

  /// Returns the chunks to the first caller; throws ``notReplayable`` for every later one.
  package func begin() throws(SQOAuthError) -> Next {
    let wasBegun = isBegun.withLock { isBegun in
      defer { isBegun = true }
      return isBegun
    }
    if wasBegun { throw notReplayable }
    return next
  }

  /// The error for a second attempt to send the form.
  package var notReplayable: SQOAuthError {
    SQOAuthError(
      .bodyNotReplayable,
      "the part \(part) is a stream that can be read only once, and an earlier attempt to send it "
        + "has read from it; make a new form, or make the part from a closure that makes chunks")
  }
}
