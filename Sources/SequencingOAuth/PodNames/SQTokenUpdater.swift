/// The pods' timer of refreshes, for ``SQOAuth/shared``.
@available(*, deprecated, message: "set SQOAuth.shared.refreshesAutomatically")
public final class SQTokenUpdater: Sendable {
  /// The Swift pod's spelling of the one updater.
  public static let instance = SQTokenUpdater()

  private init() {}

  /// The Objective-C pod's spelling of the one updater; never `nil`.
  public static func sharedInstance() -> SQTokenUpdater! { instance }

  /// Refreshes the token before it expires, from now on.
  ///
  /// The SDK does so without this call, unless ``cancelTimer()`` or the app stopped it.
  public func startTimer() {
    SQOAuth.shared.refreshesAutomatically = true
  }

  /// Refreshes the token only when it is asked for, from now on.
  public func cancelTimer() {
    SQOAuth.shared.refreshesAutomatically = false
  }
}
