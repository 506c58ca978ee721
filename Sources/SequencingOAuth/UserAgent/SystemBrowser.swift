import Basics

#if canImport(FoundationEssentials)
  public import FoundationEssentials
#else
  public import Foundation
#endif

/// The user's own browser, in a process of its own.
///
/// It runs a command with the URL as the last argument: the one that was given, or else the words
/// of `$BROWSER`, or else `xdg-open`. A command that cannot be run, that ends with another status
/// than 0, or a session without a display is ``SQOAuthError/Code/browserUnavailable``.
public struct SystemBrowser: UserAgent {
  private let command: [String]?

  /// The user's default browser.
  public init() {
    command = nil
  }

  /// A command, as a program and its arguments; the program is looked up in `PATH`.
  public init(command: [String]) {
    self.command = command
  }

  /// Starts the browser and stays until its command ends, which may be at once, or the task is
  /// cancelled, which does not end the browser.
  public func open(_ url: URL) async throws {
    let words = try command ?? Self.defaultCommand(ProcessInfo.processInfo.environment)
    guard let program = words.first, !program.isEmpty else {
      throw SQOAuthError(.browserUnavailable, "the browser command is empty")
    }
    let status: ProcessStatus
    do {
      status = try await ChildProcess.run(words + [url.absoluteString])
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
    // By convention a list of commands with colons between them; the first one counts.
    let browser = environment["BROWSER"]?.split(separator: ":").first ?? ""
    let words = browser.split(separator: " ").map(String.init)
    if !words.isEmpty { return words.filter { $0 != "%s" } }
    #if os(Linux)
      // Without a display xdg-open would start a text browser in the app's own terminal.
      guard ["DISPLAY", "WAYLAND_DISPLAY"].contains(where: { environment[$0]?.isEmpty == false })
      else {
        throw SQOAuthError(
          .browserUnavailable,
          "there is no display to open a browser on; "
            + "set BROWSER to a command, or give the URL to the user another way")
      }
      return ["xdg-open"]
    #else
      return ["open"]
    #endif
  }
}
