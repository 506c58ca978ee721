import Foundation
import ProgramSupport
import TestSupport
import Testing

/// Signs in at the sandbox with a text browser in the demo's own terminal.
@Suite(.requires(.textBrowser), .timeLimit(.minutes(3)))
struct TextBrowserTests {
  @Test(arguments: [
    "BROWSER=w3m sq-demo login", "BROWSER='no-such-browser:w3m -no-mouse' sq-demo login",
    "sq-demo login --browser w3m",
  ])
  func `alice signs in, and the program continues when she leaves the browser`(
    command: String
  ) async throws {
    try await withTerminal { terminal in
      try await terminal.type("\(command); echo status $?")
      try await terminal.press("Enter")
      try await logIn(terminal)
      let page = try await terminal.shows("You are signed in")
      // While the browser shows the last page, the program prints nothing over it.
      #expect(page.contains("sq-demo") && !page.contains("Signed in."), "\(page)")
      try await leave(terminal)
      let end = try await terminal.shows("status 0")
      #expect(end.contains("Hello, Alice Liddell."), "\(end)")
      #expect(!end.contains("Paste"), "nothing else reads the terminal")
      try await isAsBefore(terminal)
    }
  }

  @Test func `a user who leaves the browser cancels the sign-in`() async throws {
    try await withTerminal { terminal in
      try await terminal.type("BROWSER=w3m sq-demo login; echo status $?")
      try await terminal.press("Enter")
      try await terminal.shows("Password")
      // Ctrl-C only reaches the browser.
      try await terminal.press("C-c")
      try await leave(terminal)
      let end = try await terminal.shows("status 3")
      #expect(end.contains("error: cancelled: the user left the text browser \"w3m\""), "\(end)")
      try await isAsBefore(terminal)
    }
  }

  @Test func `at the time limit the browser ends and the terminal is restored`() async throws {
    try await withTerminal { terminal in
      try await terminal.type("BROWSER=w3m sq-demo login --timeout 20; echo status $?")
      try await terminal.press("Enter")
      try await terminal.shows("Password")
      let end = try await terminal.shows("status 3")
      #expect(end.contains("error: timed_out: no redirect came within 20 s"), "\(end)")
      try await isAsBefore(terminal)
    }
  }

  @Test func `the interactive demo hides its screen for the browser and shows it again afterwards`()
    async throws
  {
    try await withTerminal { terminal in
      try await terminal.type("BROWSER=w3m sq-demo; echo status $?")
      try await terminal.press("Enter")
      try await terminal.shows("Please sign in.")
      try await terminal.press("Enter")
      try await terminal.shows("User name")
      try await leave(terminal)
      try await terminal.shows("You did not sign in.")
      try await terminal.press("Enter")
      try await logIn(terminal)
      try await terminal.shows("You are signed in")
      try await leave(terminal)
      try await terminal.shows("Signed in as Alice Liddell")
      try await terminal.type("q")
      try await terminal.shows("status 0")
      try await isAsBefore(terminal)
    }
  }

  /// Logs alice in and allows access on the sandbox's pages, with the keys of w3m.
  private func logIn(_ terminal: Tmux) async throws {
    try await terminal.shows("User name")
    for (question, text) in [("TEXT:", "alice"), ("Password:", "alice-password")] {
      try await terminal.press("Tab", "Enter")
      try await terminal.shows("asks") { $0.contains(question) }
      try await terminal.type(text)
      try await terminal.press("Enter")
      try await terminal.shows("is done asking") { !$0.contains(question) }
    }
    try await terminal.shows("[alice ")
    try await terminal.press("Tab", "Enter")
    try await terminal.shows("Allow SequencingOAuth demo?")
    try await terminal.press("Tab", "Tab", "Enter")
  }

  private func leave(_ terminal: Tmux) async throws {
    try await terminal.type("q")
    try await terminal.shows("Do you want to exit w3m?")
    try await terminal.type("y")
  }

  /// Checks that the shell has the terminal again: it reads all input and shows what is typed.
  private func isAsBefore(_ terminal: Tmux) async throws {
    let settings = "'^(echo|icanon|isig|icrnl);?$'"
    try await terminal.type("clear; stty -a | tr ' ' '\\n' | grep -cE \(settings)")
    try await terminal.press("Enter")
    try await terminal.shows("has its settings") { screen in
      screen.split(separator: "\n").first == "4"
    }
    try await terminal.type("echo abcdefgh | tr a-h A-H")
    try await terminal.press("Enter")
    try await terminal.shows("ABCDEFGH")
  }

  /// Runs a test in a terminal that seems to be at the other end of an SSH connection.
  private func withTerminal(_ test: (Tmux) async throws -> Void) async throws {
    let folder = try TemporaryFolder()
    let path = ProcessInfo.processInfo.environment["PATH"] ?? ""
    let programs = URL(filePath: BuiltProgram.path("sq-demo")).deletingLastPathComponent().path
    let terminal = try await Tmux(
      environment: [
        "HOME": folder.path, "XDG_STATE_HOME": folder.file("state"), "PATH": "\(programs):\(path)",
        "LANG": "C.UTF-8", "LC_ALL": nil, "BROWSER": nil, "DISPLAY": nil, "WAYLAND_DISPLAY": nil,
        "SSH_CONNECTION": "192.0.2.1 50000 192.0.2.2 22",
      ])
    do {
      try await test(terminal)
    } catch {
      await terminal.stop()
      throw error
    }
    await terminal.stop()
  }
}
