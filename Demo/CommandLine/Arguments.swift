/// An option that a command takes: `--name`, or `--name VALUE`, which may be written `--name=VALUE`.
struct Option: Sendable, Hashable {
  let name: String
  /// What stands for the value in the help; `nil` for an option without one.
  let value: String?
  let help: String
  /// Whether it may be given more than once.
  let repeats: Bool

  init(_ name: String, value: String? = nil, repeats: Bool = false, help: String) {
    self.name = name
    self.value = value
    self.repeats = repeats
    self.help = help
  }
}

/// The words after a command, sorted into its operands and its options.
struct Arguments: Sendable {
  /// The secrets, which never are among the words.
  let secrets: Secrets
  /// What stands for itself, in order: as many words as the command has names for.
  private(set) var operands: [String] = []
  private(set) var wantsHelp = false
  private var values: [String: [String]] = [:]

  /// Sorts the words; one too many or too few, or one that no option explains, is an error.
  init(
    _ words: [String], operands names: [String] = [], options: [Option],
    secrets: Secrets = Secrets()
  ) throws(Failure) {
    self.secrets = secrets
    var rest = words[...]
    while let word = rest.popFirst() {
      if word == "--help" || word == "-h" {
        wantsHelp = true
        return
      }
      if word.hasPrefix("-"), word != "-" {
        try read(word, &rest, options)
      } else if operands.count < names.count {
        operands.append(word)
      } else {
        throw .usage("unexpected argument \"\(word.printable)\"")
      }
    }
    guard operands.count == names.count else {
      throw .usage("\(names[operands.count]) is missing")
    }
  }

  /// The value of an option that was given.
  subscript(option: Option) -> String? { values[option.name]?.first }

  /// Every value of an option that may be given more than once, in order.
  func all(_ option: Option) -> [String] { values[option.name] ?? [] }

  /// Whether an option was given.
  func contains(_ option: Option) -> Bool { values[option.name] != nil }

  private mutating func read(
    _ word: String, _ rest: inout ArraySlice<String>, _ options: [Option]
  ) throws(Failure) {
    // Only the name is ever repeated in a message: the value may be meant to be a secret.
    let name = String(word.prefix { $0 != "=" })
    try Secrets.refuseAsArgument(name)
    guard let option = options.first(where: { $0.name == name }) else {
      throw .usage("unknown option \(name.printable)")
    }
    guard option.repeats || values[name] == nil else { throw .usage("\(name) is given twice") }
    let value = try Self.value(
      of: option, attached: name == word ? nil : String(word.dropFirst(name.count + 1)), &rest)
    values[name, default: []].append(value)
  }

  private static func value(
    of option: Option, attached: String?, _ rest: inout ArraySlice<String>
  ) throws(Failure) -> String {
    guard let placeholder = option.value else {
      guard attached == nil else { throw .usage("\(option.name) takes no value") }
      return ""
    }
    if attached == nil, let next = rest.first, !next.hasPrefix("--") {
      rest.removeFirst()
      return try nonEmpty(next, option, placeholder)
    }
    // What starts with two dashes is the next option; a value that does is written after an "=".
    return try nonEmpty(attached ?? "", option, placeholder)
  }

  private static func nonEmpty(
    _ value: String, _ option: Option, _ placeholder: String
  ) throws(Failure) -> String {
    guard !value.isEmpty else { throw .usage("\(option.name) needs a value: \(placeholder)") }
    return value
  }
}
