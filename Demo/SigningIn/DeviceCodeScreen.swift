import OAuthSandbox
import SQBasics
import SQFoundation
import SequencingOAuth

/// The text for a user who signs in on another device: the address, the code and the time left.
struct DeviceCodeScreen: Sendable {
  private let console: Console
  /// The sandbox user for whom the program enters the code; `nil` if a person enters the code.
  private let visitor: SandboxUser?
  /// The maximum time that the user has for the sign-in; `nil` for the lifetime of the code.
  private let timeout: Duration?

  init(_ options: SignInArguments, _ console: Console) {
    self.console = console
    visitor = options.browser.playedUser
    timeout = options.deviceTimeout
  }

  /// Returns the warning that the server does not issue a code to the client.
  static func isRefused(by error: SQOAuthError) -> String {
    "the server does not let this client sign in on another device: \(error.message)"
  }

  /// Shows the code until the task is cancelled, or enters it for the sandbox's user.
  ///
  /// Fails if the code cannot be shown or entered, or when the user's time is over.
  func present(_ authorization: DeviceAuthorization) async throws(Failure) {
    let deadline = timeout.map { ContinuousClock.now + $0 }
    if let visitor {
      console.progress("The sandbox's simulated user enters the code \(authorization.userCode).")
      try await EmbeddedSandbox.enterCode(of: authorization, as: visitor)
    } else {
      let limit = timeout.map { Date(timeIntervalSinceNow: $0.seconds) }
      try await show(authorization)
      await countDown(
        to: min(limit ?? .distantFuture, authorization.expirationDate), until: deadline)
    }
    guard let timeout, let deadline else { return }
    try? await Task.sleep(until: deadline)
    guard !Task.isCancelled else { return }
    throw Failure(
      "timed_out",
      "the user did not finish the sign-in on another device "
        + SignInWait(timeout: timeout).limit, status: .cancelled)
  }

  private func show(_ authorization: DeviceAuthorization) async throws(Failure) {
    let address = authorization.verificationURI.absoluteString
    console.progress("On any device with a browser, open this address:")
    try console.show("  \(address)")
    console.progress("and enter this code there:")
    try console.show("  \(authorization.userCode)")
    if let complete = authorization.verificationURIComplete, let code = await qrCode(complete) {
      console.progress("Or scan this, and compare the code:")
      console.draw(code)
    }
  }

  /// Returns the address as a QR code if the user has a terminal that is wide enough for it.
  private func qrCode(_ url: URL) async -> String? {
    let environment = ProcessInfo.processInfo.environment
    let stream = console.progressStream
    guard stream.isTerminal, Appearance.canDraw(environment: environment) else { return nil }
    return await QRCode.drawing(
      of: url.absoluteString, Appearance(environment: environment),
      columns: stream.size.columns)
  }

  /// Draws the time left each second or, without a terminal that can draw, prints it once.
  ///
  /// Drawing ends with the task, or at the deadline of the time limit.
  private func countDown(to end: Date, until deadline: ContinuousClock.Instant?) async {
    let stream = console.progressStream
    let canDraw =
      stream.isTerminal
      && Appearance.canDraw(environment: ProcessInfo.processInfo.environment)
    guard canDraw else {
      return console.progress("Waiting for you, \(Self.left(until: end)). Ctrl-C cancels.")
    }
    while !Task.isCancelled, deadline.map({ .now < $0 }) ?? true {
      let text = Self.countdown(
        Int(max(0, end.timeIntervalSinceNow).rounded()), columns: stream.size.columns)
      try? stream.write("\r\(text)\u{1B}[K")
      let next = ContinuousClock.now + .seconds(1)
      try? await Task.sleep(until: min(next, deadline ?? next))
    }
    try? stream.write("\r\u{1B}[K")
  }

  /// Returns the line with the seconds that are left, short enough for one row of a terminal.
  ///
  /// A line that wraps would scroll the code away. The last column stays free, because some
  /// terminals wrap there already.
  static func countdown(_ seconds: Int, columns: Int) -> String {
    let left = left(seconds)
    let forms = [
      "Waiting for you, \(left) left. Ctrl-C cancels.", "\(left) left. Ctrl-C cancels.",
      "\(left) left", left, "\(seconds / 60)",
    ]
    return forms.first { $0.count < columns } ?? ""
  }

  private static func left(until end: Date) -> String {
    left(Int(max(0, end.timeIntervalSinceNow).rounded()))
  }

  /// Returns a time in minutes and seconds.
  private static func left(_ seconds: Int) -> String {
    let rest = String(seconds % 60)
    return "\(seconds / 60):\(rest.count < 2 ? "0" : "")\(rest)"
  }
}
