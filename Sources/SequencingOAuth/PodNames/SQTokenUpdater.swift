/// The timer of the Sequencing.com pods; it starts and stops the refreshes of ``SQOAuth/shared``.
@available(*, deprecated, message: "set SQOAuth.shared.refreshesAutomatically")
public final class SQTokenUpdater: Sendable {
  /// The only updater, in the Swift pod's spelling.
  public static let instance = SQTokenUpdater()

  private init() {}

  /// Returns the only updater, in the Objective-C pod's spelling; never `nil`.
  public static func sharedInstance() -> SQTokenUpdater! { instance }

  /// Starts to refresh the token before it expires.
  ///
  /// The SDK does this by default, unless ``cancelTimer()`` or the app stopped it.
  public func startTimer() {
    SQOAuth.shared.refreshesAutomatically = true
  }

  /// Stops automatic refreshes, so that the token is refreshed only when a call needs a valid one.
  public func cancelTimer() {
    SQOAuth.shared.refreshesAutomatically = false
  }
}
