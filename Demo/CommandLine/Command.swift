import SQBasics

/// A command of the program, with its help and the forms of its arguments.
protocol Command: Sendable {
  /// The word that calls the command.
  static var name: String { get }
  /// The command's line in the list of commands.
  static var summary: String { get }
  /// The rest of the command's help, in paragraphs.
  static var details: String { get }
  /// The forms of the command's arguments, without options.
  static var forms: [Form] { get }
  /// The options of the command, without `--help`.
  static var options: [Option] { get }

  /// Checks the arguments, before the command opens a file or asks the user for anything.
  init(_ arguments: Arguments) throws(Failure)

  /// Runs the command, and throws if the command fails.
  func run(_ console: Console) async throws(Failure)
}

extension Command {
  static var forms: [Form] { [Form()] }
}

/// The command to run or the text to print, from the words after `sq-demo`.
enum Invocation {
  case run(any Command, NetworkOptions)
  case print(String)

  /// Finds the command that the words name; without a name, it is the first command, the tour.
  init(
    _ words: [String], commands: [any Command.Type], secrets: Secrets = Secrets()
  ) throws(Failure) {
    switch words.first {
    case "--version":
      try Self.refuseMore(words)
      self = .print("sq-demo \(Release.version)")
    case "--help", "-h":
      try Self.refuseMore(words)
      self = .print(Help.overview(commands))
    case "help":
      let named = words.dropFirst().first
      try Self.refuseMore(Array(words.dropFirst(named == nil ? 0 : 1)))
      self = .print(
        try named.map { name throws(Failure) in try Self.page(name, in: commands) }
          ?? Help.overview(commands))
    case let name? where !name.hasPrefix("-"):
      try self.init(
        try Self.command(name, in: commands), Array(words.dropFirst()), secrets)
    default:
      do throws(Failure) {
        try self.init(commands[0], words, secrets)
      } catch {
        throw error.namingCommand(in: words, among: commands)
      }
    }
  }

  private init(
    _ command: any Command.Type, _ words: [String], _ secrets: Secrets
  ) throws(Failure) {
    do throws(Failure) {
      var arguments = try Arguments(
        words, forms: command.forms, options: command.options, secrets: secrets)
      guard !arguments.wantsHelp else {
        self = .print(Help.page(command))
        return
      }
      arguments.network = try NetworkOptions(arguments)
      self = .run(try command.init(arguments), arguments.network)
    } catch {
      guard error.status == .wrongUsage else { throw error }
      let hints = [error.hint, Help.pointer(to: command)].compactMap(\.self)
      throw error.withHint(hints.joined(separator: "\n"))
    }
  }

  private static func page(
    _ name: String, in commands: [any Command.Type]
  ) throws(Failure) -> String {
    if let topic = Help.topics.first(where: { $0.name == name }) { return Help.page(topic) }
    return Help.page(
      try command(name, in: commands, orAmong: Help.topics.map { $0.name }))
  }

  /// Finds a command by its name.
  ///
  /// An error may also suggest one of the `topics`.
  private static func command(
    _ name: String, in commands: [any Command.Type], orAmong topics: [String] = ["help"]
  ) throws(Failure) -> any Command.Type {
    guard let command = commands.first(where: { $0.name == name }) else {
      throw Failure.usage(
        "there is no command \"\(name.onScreen)\""
          + Suggestion.question(name, among: commands.map { $0.name } + topics)
      ).withHint("Run 'sq-demo help' for the list of commands.")
    }
    return command
  }

  private static func refuseMore(_ words: [String]) throws(Failure) {
    guard words.count > 1 else { return }
    throw Failure.usage("unexpected argument \"\(words[1].onScreen)\"")
      .withHint("Run 'sq-demo help' for the list of commands.")
  }
}

extension Failure {
  /// Returns this failure with the right order of the words, if a command's name comes after options.
  ///
  /// Otherwise the options would be said to be wrong for a command that the user has not named.
  fileprivate func namingCommand(
    in words: [String], among commands: [any Command.Type]
  ) -> Failure {
    let withValue = commands.flatMap { $0.options.filter { $0.value != nil } }
    // A value may be a command's name too, as in `--browser sandbox`.
    let others = zip(words, words.dropFirst()).filter { before, _ in
      !withValue.contains { [$0.name, $0.short, $0.formerly].contains(before) }
    }
    guard status == .wrongUsage, let option = words.first,
      let name = others.map(\.1).first(where: commands.map { $0.name }.contains)
    else { return self }
    // The option's value may be a secret.
    let shown = String(option.prefix { $0 != "=" }).onScreen
    return withHint(
      "The name of the command comes before its options: 'sq-demo \(name) \(shown)'.")
  }
}
