/// An option of a command: `--name`, `--name VALUE` or `--name=VALUE`.
struct Option: Sendable, Hashable {
  let name: String
  /// The short form, a dash and a letter, if there is one.
  let short: String?
  /// The placeholder for the value in the help; `nil` for an option without a value.
  let value: String?
  let help: String
  /// Whether the option may be given more than once.
  let repeats: Bool
  /// The name in earlier versions of the program, which still works; `nil` if there was none.
  let formerly: String?
  /// The words that the value may be or begin with; empty if any text is allowed.
  let choices: [String]

  /// Creates an option; a placeholder such as `a|b|NAME` gives the choices `a` and `b`.
  init(
    _ name: String, short: String? = nil, value: String? = nil, choices: [String]? = nil,
    repeats: Bool = false, formerly: String? = nil, help: String
  ) {
    self.name = name
    self.short = short
    self.value = value
    self.help = help
    self.repeats = repeats
    self.formerly = formerly
    self.choices = choices ?? Self.alternatives(value).filter(Self.isWord)
  }

  /// The name of the option for help, common to all commands.
  static let helpName = "--help"

  /// Whether the option's value is the path of a file.
  var takesFile: Bool { Self.alternatives(value).contains { ["FILE", "PATH"].contains($0) } }

  /// Returns whether a word of the command line is the option.
  func isCalled(_ word: String) -> Bool { [name, short, formerly].contains(word) }

  /// The option's entry in the help: its names, and the placeholder for its value.
  var term: String {
    [name + (short.map { ", \($0)" } ?? ""), value].compactMap(\.self).joined(separator: " ")
  }

  private static func alternatives(_ value: String?) -> [String] {
    value?.split(separator: "|").map(String.init) ?? []
  }

  /// Returns whether a text is a word to type rather than a placeholder.
  private static func isWord(_ text: String) -> Bool {
    text.contains { $0.isLowercase } && !text.contains { $0.isUppercase || $0 == "'" }
  }
}
