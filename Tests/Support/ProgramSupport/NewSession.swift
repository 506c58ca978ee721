import Foundation

/// The WebDriver capabilities with which a browser starts.
struct NewSession: Encodable {
  /// Chromium without windows: it takes a third of the processor time of `chromium --headless`.
  static let program = "chromium-headless-shell"

  let profile: String
  let width: Int
  let height: Int

  private var arguments: [String] {
    [
      "--user-data-dir=\(profile)/profile", "--window-size=\(width),\(height)",
      "--hide-scrollbars", "--lang=en",
      // The browser looks up no names, and reaches only loopback, without a proxy.
      "--host-resolver-rules=MAP * ~NOTFOUND, EXCLUDE 127.0.0.1, EXCLUDE localhost, EXCLUDE [::1]",
      "--no-proxy-server", "--disable-background-networking", "--disable-component-update",
      "--disable-sync", "--disable-domain-reliability", "--disable-client-side-phishing-detection",
      "--disable-default-apps", "--disable-extensions", "--no-first-run",
      "--no-default-browser-check", "--no-pings", "--password-store=basic",
      "--disable-features=Translate,OptimizationHints,MediaRouter,PasswordLeakDetection",
      // A container's shared memory may be small.
      "--disable-dev-shm-usage", "--disable-gpu",
    ]
      // Chromium's sandbox refuses to run as root.
      + (geteuid() == 0 ? ["--no-sandbox"] : [])
  }

  func encode(to encoder: any Encoder) throws {
    try Body(
      capabilities: Capabilities(
        alwaysMatch: Match(
          timeouts: ["pageLoad": 20_000, "script": 10_000],
          options: Options(
            binary: ProgramRequirement.path(of: Self.program) ?? Self.program, args: arguments)))
    ).encode(to: encoder)
  }

  private struct Body: Encodable {
    let capabilities: Capabilities
  }

  private struct Capabilities: Encodable {
    let alwaysMatch: Match
  }

  private struct Match: Encodable {
    let browserName = "chrome-headless-shell"
    let timeouts: [String: Int]
    let options: Options

    private enum CodingKeys: String, CodingKey {
      case browserName
      case timeouts
      case options = "goog:chromeOptions"
    }
  }

  private struct Options: Encodable {
    let binary: String
    let args: [String]
  }
}
