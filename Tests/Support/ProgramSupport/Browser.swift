import Foundation
import SequencingOAuth
import TestSupport

/// A headless Chromium in which a test acts as the user.
///
/// Each browser has its own process, profile and chromedriver, reaches only loopback addresses, and
/// ends with the test.
package final class Browser: Sendable {
  let driver: WebDriver

  init(driver: WebDriver) {
    self.driver = driver
  }

  /// Runs a body with a browser.
  ///
  /// Only two run at a time, because each needs a core for itself.
  package static func open<Result: Sendable>(
    width: Int = 1000, height: Int = 800, _ body: (Browser) async throws -> Result
  ) async throws -> Result {
    try await turn.take()
    defer { turn.give() }
    let folder = try TemporaryFolder()
    let process = try ChildProcess(
      ["bash", "-c", leash], environment: ["TMPDIR": folder.path, "HOME": folder.path],
      input: .open)
    do {
      let result = try await session(process, in: folder, width: width, height: height, body)
      await process.stop()
      return result
    } catch {
      await process.stop()
      throw error
    }
  }

  private static let turn = Turnstile(places: 2)

  /// A shell script that ends chromedriver and its browser when its input ends.
  ///
  /// The input ends when the test stops the browser, and also if the test process dies before.
  /// Chromedriver takes a free port of ::1, and ends if another program listens on the same port of
  /// 127.0.0.1. This happens, because many test servers run at the same time. The script then
  /// starts chromedriver again.
  private static let leash = """
    trap : TERM
    for attempt in {1..10}; do chromedriver --port=0 && break; done &
    read -r
    trap '' TERM
    kill 0
    wait
    until rm -rf "$TMPDIR" 2>/dev/null; do sleep 0.1; done
    """

  private static func session<Result: Sendable>(
    _ process: ChildProcess, in folder: TemporaryFolder, width: Int, height: Int,
    _ body: (Browser) async throws -> Result
  ) async throws -> Result {
    let line = try await process.line(after: "ChromeDriver was started successfully on port ")
    let base = "http://127.0.0.1:\(line.prefix(while: \.isNumber))"
    let client = CurlTransport.shared
    let session = try await WebDriver(base: base, client: client).send(
      "POST", "/session", NewSession(profile: folder.path, width: width, height: height),
      as: Session.self)
    let browser = Browser(
      driver: WebDriver(base: "\(base)/session/\(session.sessionId)", client: client))
    do {
      let result = try await body(browser)
      try await browser.driver.send("DELETE", "")
      return result
    } catch {
      let address = (try? await browser.url) ?? "nowhere"
      try? await browser.screenshot("failure-\(UUID().uuidString.prefix(8))")
      try? await browser.driver.send("DELETE", "")
      throw BrowserError(url: address, cause: error)
    }
  }

  private struct Session: Decodable {
    let sessionId: String
  }
}

/// An error while a browser was open, with the address of its page.
package struct BrowserError: Error, CustomStringConvertible {
  let url: String
  package let cause: any Error
  package var description: String { "at \(url.prefix { $0 != "?" }): \(cause)" }
}
