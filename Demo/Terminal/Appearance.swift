/// The colors and symbols that the terminal can show.
struct Appearance: Sendable, Equatable {
  enum Colours: Sendable {
    case none
    /// The sixteen colors that the terminal's theme defines.
    case basic
    /// The palette of 256 colors, which look the same on every terminal.
    case palette
  }

  var colours: Colours
  var glyphs: Glyphs

  init(colours: Colours, glyphs: Glyphs) {
    self.colours = colours
    self.glyphs = glyphs
  }

  /// Reads the terminal's capabilities and the user's preferences from the environment.
  ///
  /// - SeeAlso: https://no-color.org
  init(environment: [String: String]) {
    let terminal = environment["TERM"] ?? ""
    let isRich =
      environment["COLORTERM"]?.isEmpty == false
      || terminal.contains("256color") || terminal.contains("direct")
    if environment["NO_COLOR"]?.isEmpty == false {
      colours = .none
    } else {
      colours = isRich ? .palette : .basic
    }
    // The first variable that is set decides, as POSIX requires.
    let locale =
      ["LC_ALL", "LC_CTYPE", "LANG"]
      .compactMap { environment[$0] }.first { !$0.isEmpty } ?? ""
    let encoding = locale.lowercased().filter { $0 != "-" }
    glyphs = encoding.contains("utf8") ? .unicode : .ascii
  }

  /// Returns whether a screen can be drawn on the terminal.
  static func canDraw(environment: [String: String]) -> Bool {
    let terminal = environment["TERM"] ?? ""
    return !terminal.isEmpty && terminal != "dumb"
  }
}

/// The symbols that screens are drawn with.
struct Glyphs: Sendable, Equatable {
  let rule: String
  let dot: String
  let success: String
  let failure: String
  let ellipsis: String
  let spinner: [String]
  let barFull: String
  let barHalf: String
  let barEmpty: String

  static let unicode = Glyphs(
    rule: "─", dot: "·", success: "✓", failure: "✗", ellipsis: "…",
    spinner: ["⠋", "⠙", "⠹", "⠸", "⠼", "⠴", "⠦", "⠧", "⠇", "⠏"],
    barFull: "━", barHalf: "╸", barEmpty: "─")

  static let ascii = Glyphs(
    rule: "-", dot: "|", success: "*", failure: "!", ellipsis: "...",
    spinner: ["|", "/", "-", "\\"], barFull: "#", barHalf: "#", barEmpty: "-")
}
