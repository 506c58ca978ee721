/// The colours and signs that the terminal can show.
struct Appearance: Sendable, Equatable {
  enum Colours: Sendable {
    case none
    /// The sixteen colours that the terminal's theme defines.
    case basic
    /// The palette of 256 colours, which look the same on every terminal.
    case palette
  }

  var colours: Colours
  var glyphs: Glyphs

  init(colours: Colours, glyphs: Glyphs) {
    self.colours = colours
    self.glyphs = glyphs
  }

  /// Reads the terminal's abilities and the user's wishes from the environment.
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

  /// Whether a screen can be drawn on the terminal.
  static func canDraw(environment: [String: String]) -> Bool {
    let terminal = environment["TERM"] ?? ""
    return !terminal.isEmpty && terminal != "dumb"
  }
}

/// The signs with which screens are drawn.
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
