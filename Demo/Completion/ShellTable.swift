/// The commands, words and options that a shell can complete, as in the help.
struct ShellTable {
  struct Entry {
    let name: String
    let summary: String
    /// The words that may follow the command.
    let words: [String]
    /// Whether one of the command's operands is the path of a file.
    let takesFile: Bool
    let options: [Option]
  }

  let entries: [Entry]

  /// Creates the table of these commands and of `help`.
  init(_ commands: [any Command.Type]) {
    let names = commands.map { $0.name }
    let help = Entry(
      name: "help", summary: "Explain a command.",
      words: names + Help.topics.map { $0.name }, takesFile: false, options: [])
    entries = commands.map { Entry($0) } + [help]
  }

  /// All options with a value, once for each name, in the order of the commands.
  var optionsWithValues: [Option] {
    var names: Set<String> = []
    return entries.flatMap(\.options).filter { $0.value != nil && names.insert($0.name).inserted }
  }

  /// The exceptions: an option, and a command that completes it in another way than the first command
  /// that has the option.
  var specialOptions: [(command: String, option: Option)] {
    let usual = Dictionary(uniqueKeysWithValues: optionsWithValues.map { ($0.name, $0) })
    return entries.flatMap { entry in
      entry.options.filter { option in
        guard option.value != nil, let other = usual[option.name] else { return false }
        return option.choices != other.choices || option.takesFile != other.takesFile
      }.map { (entry.name, $0) }
    }
  }
}

extension ShellTable.Entry {
  fileprivate init(_ command: any Command.Type) {
    let operands = command.forms.flatMap(\.operands)
    self.init(
      name: command.name, summary: command.summary,
      words: command.forms.compactMap(\.action) + operands.flatMap { Self.choices[$0] ?? [] },
      takesFile: operands.contains("PATH"),
      options: command.options + [Option(Option.helpName, help: "Explain the command.")])
  }

  /// The words that an operand can be.
  private static let choices = [
    "METHOD": ["GET", "POST", "PUT", "PATCH", "DELETE"],
    Explain.operand: Article.troubleshooting.codes + ProgramCodes.all,
    Completion.operand: Completion.Shell.allCases.map(\.rawValue),
  ]
}

extension Option {
  /// The option's long name and, if there is one, its short name.
  var names: [String] { [name] + [short].compactMap(\.self) }

  /// The first clause of the help, for a list of options.
  var hint: String {
    let clauses = [". ", "; ", ", ", ": "].compactMap { mark in
      help.firstRange(of: mark).map { help[..<$0.lowerBound] }
    }
    let clause = clauses.min { $0.count < $1.count } ?? help[...]
    return String(clause.hasSuffix(".") ? clause.dropLast() : clause)
  }
}
