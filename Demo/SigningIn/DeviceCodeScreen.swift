import SQFoundation
import SequencingOAuth

/// The text for a user who signs in on another device: the address, the code and the time left.
struct DeviceCodeScreen: Sendable {
  let console: Console

  /// Shows everything until the task is cancelled.
  ///
  /// The countdown ends at `end` or when the code expires, whichever is first.
  func show(_ authorization: DeviceAuthorization, until end: Date?) async {
    let address = authorization.verificationURI.absoluteString
    console.progress("On any device with a browser, open this address:")
    try? console.show("  \(address)")
    console.progress("and enter this code there:")
    try? console.show("  \(authorization.userCode)")
    if let complete = authorization.verificationURIComplete, let code = qrCode(complete) {
      console.progress("Or scan this, and compare the code:")
      console.draw(code)
    }
    await countDown(to: min(end ?? .distantFuture, authorization.expirationDate))
  }

  /// Returns the address as a QR code if the user has a terminal that is wide enough for it.
  private func qrCode(_ url: URL) -> String? {
    let environment = ProcessInfo.processInfo.environment
    let stream = console.progressStream
    guard stream.isTerminal, Appearance.canDraw(environment: environment) else { return nil }
    return QRCode.drawing(
      of: url.absoluteString, Appearance(environment: environment),
      columns: stream.size.columns)
  }

  /// Draws the time left each second or, without a terminal that can draw, prints it once.
  private func countDown(to end: Date) async {
    let stream = console.progressStream
    let canDraw =
      stream.isTerminal
      && Appearance.canDraw(environment: ProcessInfo.processInfo.environment)
    guard canDraw else {
      return console.progress("Waiting for you, \(Self.left(until: end)). Ctrl-C cancels.")
    }
    while !Task.isCancelled {
      try? stream.write("\rWaiting for you, \(Self.left(until: end)) left. Ctrl-C cancels.\u{1B}[K")
      try? await Task.sleep(for: .seconds(1))
    }
    try? stream.write("\r\u{1B}[K")
  }

  /// Returns the time until a date in minutes and seconds.
  private static func left(until end: Date) -> String {
    let seconds = Int(max(0, end.timeIntervalSinceNow).rounded())
    let rest = String(seconds % 60)
    return "\(seconds / 60):\(rest.count < 2 ? "0" : "")\(rest)"
  }
}
