import SQBasics

#if canImport(FoundationEssentials)
  package import FoundationEssentials
#else
  import Foundation
#endif

/// The chunks of a form part that can be read only once.
///
/// Only the first attempt to send the form gets them.
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

extension HTTPRequest {
  /// Whether the request can be sent more than once, because its whole body can be read again.
  public var isReplayable: Bool { oneTimeStreams.isEmpty }

  /// Whether a part of the body that can be read only once was read, so the request cannot be sent.
  public var isSpent: Bool { oneTimeStreams.contains(where: \.wasBegun) }

  /// Throws if the body can no longer be sent, before any byte is sent.
  package func checkNotSpent() throws(SQOAuthError) {
    if !oneTimeStreams.isEmpty { try Self.check(oneTimeStreams) }
  }

  package static func check(_ streams: [OneTimeStream]) throws(SQOAuthError) {
    if let begun = streams.first(where: \.wasBegun) { throw begun.notReplayable }
  }
}
