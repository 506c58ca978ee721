/// The pods' timer of refreshes, for ``SQOAuth/shared``.
@available(*, deprecated, message: "set SQOAuth.shared.refreshesAutomatically")
public final class SQTokenUpdater: Sendable {
  /// The only updater, as the Swift pod spells it.
  public static let instance = SQTokenUpdater()

  private init() {}

  /// The only updater, as the Objective-C pod spells it; never `nil`.
  public static func sharedInstance() -> SQTokenUpdater! { instance }

  /// Refreshes the token before it expires, from now on.
  ///
  /// The SDK does so without this call, unless ``cancelTimer()`` or the app stopped it.
  public func startTimer() {
    SQOAuth.shared.refreshesAutomatically = true
  }

  /// From now on, refreshes the token only when a call needs a valid one.
  public func cancelTimer() {
    SQOAuth.shared.refreshesAutomatically = false
  }
}
