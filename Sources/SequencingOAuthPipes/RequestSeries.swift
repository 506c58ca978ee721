import SQBasics
import SequencingOAuth

/// Requests that belong together: the attempts of a download, or the pages of a list.
///
/// They have one owner. If another user signs in between two of them, the second one is not sent.
final class RequestSeries: Sendable {
  private let latest = Locked<RequestOwner?>(nil)

  /// The owner of the latest request; `nil` before the first one.
  var owner: RequestOwner? {
    get { latest.withLock(\.self) }
    set { latest.withLock { $0 = newValue } }
  }
}
