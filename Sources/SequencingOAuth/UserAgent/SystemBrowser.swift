import Basics

#if canImport(FoundationEssentials)
  public import FoundationEssentials
#else
  public import Foundation
#endif

/// Opens pages in the user's own browser, as a separate process.
///
/// It runs a command with the URL as the last argument: the command that the app gave, or else the
/// one in `$BROWSER`, or else `xdg-open`. In `$BROWSER`, `%s` stands for the URL. What a command of
/// the app or the user prints goes to standard error; what a browser prints that `xdg-open` starts is
/// discarded. It throws ``SQOAuthError/Code/browserUnavailable`` if the
/// command cannot be run or ends with a status other than 0, or if the session has no display.
public struct SystemBrowser: UserAgent {
  private let command: [String]?

  /// Uses the user's default browser.
  public init() {
    command = nil
  }

  /// Uses a command, given as a program and its arguments; the program is looked up in `PATH`.
  public init(command: [String]) {
    self.command = command
  }

  /// Whether this session seems to have a browser: `$BROWSER` is set, or there is a display and the
  /// system's command that opens pages.
  ///
  /// If it is `false`, users cannot sign in here by a browser of this machine. Let them sign in on
  /// another device then, by ``SQOAuth/signInWithDeviceCode(show:)``, or paste the redirect.
  public static var isAvailable: Bool {
    let environment = ProcessInfo.processInfo.environment
    guard let program = try? defaultCommand(environment).first else { return false }
    guard !program.contains("/") else {
      return FileManager.default.isExecutableFile(atPath: program)
    }
    return (environment["PATH"] ?? "").split(separator: ":").contains {
      FileManager.default.isExecutableFile(atPath: "\($0)/\(program)")
    }
  }

  /// Starts the browser and returns when its command has ended, which may be at once.
  ///
  /// If the task is cancelled, this returns and the browser stays open.
  public func open(_ url: URL) async throws {
    let environment = ProcessInfo.processInfo.environment
    let words = try command ?? Self.defaultCommand(environment)
    let isNamed = command != nil || Self.namedCommand(environment) != nil
    guard let program = words.first, !program.isEmpty else {
      throw SQOAuthError(.browserUnavailable, "the browser command is empty")
    }
    let status: ProcessStatus
    do {
      status = try await ChildProcess.run(
        command == nil ? Self.fill(words, with: url) : words + [url.absoluteString],
        output: isNamed ? .shown : .discarded)
    } catch let error as SpawnError {
      throw SQOAuthError(
        .browserUnavailable,
        "the browser command \"\(program.printable)\" cannot be run: \(error)",
        cause: error)
    }
    guard status == .exited(0) else {
      throw SQOAuthError(
        .browserUnavailable,
        "the browser command \"\(program.printable)\" \(status)")
    }
  }

  static func defaultCommand(_ environment: [String: String]) throws(SQOAuthError) -> [String] {
    if let words = namedCommand(environment) { return words }
    #if os(Linux)
      // Without a display, xdg-open would start a text browser in the app's own terminal.
      guard ["DISPLAY", "WAYLAND_DISPLAY"].contains(where: { environment[$0]?.isEmpty == false })
      else {
        throw SQOAuthError(
          .browserUnavailable,
          "there is no display to open a browser on; "
            + "set BROWSER to a command, such as echo, which prints the address, or give the SDK a "
            + "UserAgent of your own, in its ClientEnvironment")
      }
      return ["xdg-open"]
    #else
      return ["open"]
    #endif
  }

  /// The command that the user has named; `nil` if there is none.
  private static func namedCommand(_ environment: [String: String]) -> [String]? {
    // By convention `BROWSER` is a list of commands with colons between them; the first one counts.
    let browser = environment["BROWSER"]?.split(separator: ":").first ?? ""
    let words = browser.split(separator: " ").map(String.init)
    return words.isEmpty ? nil : words
  }

  /// The words of a command with the URL in the place of each `%s`, or else at the end.
  static func fill(_ words: [String], with url: URL) -> [String] {
    let address = url.absoluteString
    guard words.contains(where: { $0.contains("%s") }) else { return words + [address] }
    return words.map { $0.replacing("%s", with: address) }
  }
}
