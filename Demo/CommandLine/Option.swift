/// An option that a command takes: `--name`, or `--name VALUE`, which may be written `--name=VALUE`.
struct Option: Sendable, Hashable {
  let name: String
  /// A dash and a letter that say the same, if there are such.
  let short: String?
  /// What stands for the value in the help; `nil` for an option without one.
  let value: String?
  let help: String
  /// Whether it may be given more than once.
  let repeats: Bool
  /// The words that a value may be, or begin with; empty when it may be any text.
  let choices: [String]

  /// Describes an option; a value such as `a|b|NAME` has the choices `a` and `b`.
  init(
    _ name: String, short: String? = nil, value: String? = nil, choices: [String]? = nil,
    repeats: Bool = false, help: String
  ) {
    self.name = name
    self.short = short
    self.value = value
    self.help = help
    self.repeats = repeats
    self.choices = choices ?? Self.alternatives(value).filter(Self.isWord)
  }

  /// The option that every command takes.
  static let helpName = "--help"

  /// Whether its value is the path of a file.
  var takesFile: Bool { Self.alternatives(value).contains { ["FILE", "PATH"].contains($0) } }

  /// The option as the help writes it: its names, and what stands for its value.
  var term: String {
    [name + (short.map { ", \($0)" } ?? ""), value].compactMap(\.self).joined(separator: " ")
  }

  private static func alternatives(_ value: String?) -> [String] {
    value?.split(separator: "|").map(String.init) ?? []
  }

  /// Whether a text is written as it is, and does not stand for something else.
  private static func isWord(_ text: String) -> Bool {
    text.contains { $0.isLowercase } && !text.contains { $0.isUppercase || $0 == "'" }
  }
}
