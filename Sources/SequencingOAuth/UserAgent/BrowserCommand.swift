import SQBasics
import SQFoundation
import SQLibC

/// A command that opens a page, chosen by the app, the user or the system.
struct BrowserCommand: Sendable, Equatable {
  /// The program and its arguments.
  var words: [String]
  /// Whether `%s` in a word is replaced by the address.
  var hasPlaceholder = true
  /// Whether the app or the user chose the command, so that the user sees its output.
  var isNamed = true
  /// Whether the command ends with `&`, so that it may run in the background.
  var isInBackground = false

  var program: String { words.first ?? "" }

  /// Returns the words with the address in place of each `%s`, or at the end if there is no `%s`.
  func words(for url: URL) -> [String] {
    let address = url.absoluteString
    guard hasPlaceholder, words.contains(where: { $0.contains("%s") }) else {
      return words + [address]
    }
    return words.map { $0.replacing("%s", with: address) }
  }

  // MARK: Text browsers

  private static let textBrowsers: Set = [
    "browsh", "carbonyl", "cha", "edbrowse", "elinks", "felinks", "links", "links2", "lynx",
    "netrik", "retawq", "w3m",
  ]

  /// Returns whether this is a browser that shows its pages in a terminal.
  ///
  /// A program such as `www-browser` may be a link to the machine's preferred browser, so the
  /// link's target is checked too.
  func isTextBrowser(_ environment: [String: String]) -> Bool {
    guard !isInBackground else { return false }
    // The text browser Links opens a window if it gets the option -g.
    guard !words.contains("-g") else { return false }
    if Self.textBrowsers.contains(Self.name(program)) { return true }
    guard let path = Executable.path(of: program, in: environment) else { return false }
    return Self.textBrowsers.contains(Self.name(Executable.target(of: path)))
  }

  private static func name(_ path: String) -> String {
    String(path.split(separator: "/").last ?? "")
  }
}

extension BrowserCommand {
  // MARK: The user's choice

  /// Returns the commands in `$BROWSER`, in the order to try them; empty if the user chose none.
  ///
  /// By convention, the variable is a list with colons between its entries. Each entry is split
  /// into words as in a shell, and an `&` at its end allows the command to run in the background.
  static func named(_ environment: [String: String]) -> [BrowserCommand] {
    let text = environment["BROWSER"] ?? ""
    let entries = ShellWords.splitList(text, at: ":")
    // A quote that is not closed counts as an apostrophe in the name of a program.
    return (entries ?? text.split(separator: ":").map(String.init)).compactMap { entry in
      var command = entry.trimmed
      let isInBackground = command.hasSuffix("&") && !command.hasSuffix("\\&")
      if isInBackground { command = command.dropLast() }
      let words =
        entries == nil
        ? command.split(separator: " ").map(String.init)
        : ShellWords.split(String(command)) ?? []
      guard words.first?.isEmpty == false else { return nil }
      return BrowserCommand(words: words, isInBackground: isInBackground)
    }
  }

  // MARK: The system's choice

  /// Returns the system's installed commands that open the user's default browser in a window.
  ///
  /// They are in the order to try them.
  static func system(_ environment: [String: String]) -> [BrowserCommand] {
    #if os(Linux)
      var programs: [String] = []
      if hasDisplay(environment) { programs = ["xdg-open", "x-www-browser", "sensible-browser"] }
      // In Windows' Linux subsystem, the user's browser is a Windows program.
      if isSet(["WSL_DISTRO_NAME", "WSL_INTEROP"], environment) { programs.append("wslview") }
      if hasDisplay(environment) { programs.append("www-browser") }
    #else
      let programs = ["open"]
    #endif
    return programs.map { BrowserCommand(words: [$0], isNamed: false) }.filter {
      // A text browser must not use the terminal unless the user has chosen it.
      Executable.path(of: $0.program, in: environment) != nil && !$0.isTextBrowser(environment)
    }
  }

  /// Returns whether the environment has a display for windows.
  static func hasDisplay(_ environment: [String: String]) -> Bool {
    isSet(["DISPLAY", "WAYLAND_DISPLAY"], environment)
  }

  private static func isSet(_ names: [String], _ environment: [String: String]) -> Bool {
    names.contains { environment[$0]?.isEmpty == false }
  }

  /// The changes to the environment of the command.
  ///
  /// If there is no browser with windows, `xdg-open` would start a text browser, and that browser
  /// would read the app's own terminal. With a list of browsers in `BROWSER`, `xdg-open` tries only
  /// these, after the user's default browser.
  var environmentChanges: [String: String] {
    guard !isNamed, program == "xdg-open" else { return [:] }
    let browsers = [
      "x-www-browser", "firefox", "firefox-esr", "chromium", "chromium-browser", "google-chrome",
      "epiphany", "konqueror", "falkon", "brave-browser", "microsoft-edge", "opera", "vivaldi",
    ]
    return ["BROWSER": browsers.joined(separator: ":")]
  }
}

/// The lookup of programs in `PATH`.
enum Executable {
  /// Returns the path of an executable program; `nil` if there is none.
  static func path(of program: String, in environment: [String: String]) -> String? {
    paths(of: program, in: environment).first { obstacle(to: $0) == nil }
  }

  /// Returns why a program cannot be run, as the end of a sentence; `nil` if it can.
  static func obstacle(to program: String, in environment: [String: String]) -> String? {
    let obstacles = paths(of: program, in: environment).map(obstacle)
    guard !obstacles.contains(nil) else { return nil }
    // If a file exists but cannot be run, its reason is the most helpful one.
    return obstacles.compactMap(\.self).first { $0 != missing } ?? missing
  }

  private static let missing = "there is no such program"

  private static func paths(of program: String, in environment: [String: String]) -> [String] {
    guard !program.contains("/") else { return [program] }
    return (environment["PATH"] ?? "").split(separator: ":").map { "\($0)/\(program)" }
  }

  private static func obstacle(to path: String) -> String? {
    var status = stat()
    guard stat(path, &status) == 0 else {
      return [ENOENT, ENOTDIR].contains(errno)
        ? missing : "\(path.printable): \(CLibrary.meaning(of: errno))"
    }
    // `access` also reports a folder as executable, if the folder can be entered.
    if status.st_mode & S_IFMT == S_IFDIR { return "\(path.printable) is a folder" }
    return access(path, X_OK) == 0 ? nil : "\(path.printable) is not executable"
  }

  /// Returns the file that a path refers to, after all symbolic links.
  static func target(of path: String) -> String {
    guard let real = realpath(path, nil) else { return path }
    defer { free(real) }
    return String(cString: real)
  }
}
