/// Something that the help has a page on and that is no command.
protocol HelpTopic: Sendable {
  static var name: String { get }
  static var summary: String { get }
  static var sections: [HelpSection] { get }
  static var details: String { get }
}

/// Terms and their explanations, perhaps under a heading.
struct HelpSection: Sendable {
  var heading: String?
  let rows: [(String, String)]
}

/// What the program says of itself.
enum Help {
  static let topics: [any HelpTopic.Type] = [OptionsTopic.self, StoreTopic.self]

  static let version = "0.1.0"
  private static let width = 80

  /// The list of commands.
  static func overview(_ commands: [any Command.Type]) -> String {
    let list = commands.map { row($0.name, $0.summary, indent: 14) }
    return """
      sq-demo shows what SequencingOAuth does, at a server of its own or at yours.

      Usage: sq-demo [COMMAND] [OPTIONS]

      Without a command it is the tour.

      \(list.joined(separator: "\n"))

      'sq-demo help COMMAND' tells what a command takes, 'sq-demo help options'
      explains the options that many commands share, 'sq-demo help stores' where
      accounts are kept, and 'sq-demo help completion' how your shell completes them.
      --version prints the version.

      Exit status: 0 done, 1 not authorized, 2 wrong usage, 3 denied, cancelled or
      timed out, 4 the newest token could not be kept. Standard error has the reason:
      'error: CODE: message'.

      Ctrl-C and the signals that ask a program to end let a refresh that is under way
      come to its end; a second one ends the program at once.
      """
  }

  /// A command's own page: its own options, and the names of those that it shares with others.
  static func page(_ command: any Command.Type) -> String {
    let own = command.options.filter { !OptionsTopic.shared.contains($0) }
    let list = (own + [Option(Option.helpName, help: "Show this page.")]).map {
      row($0.term, $0.help)
    }
    let usages = command.forms.map { form in
      (["sq-demo", command.name, form.action].compactMap(\.self) + form.operands
        + (command.options.isEmpty ? [] : ["[OPTIONS]"])).joined(separator: " ")
    }
    return """
      \(command.summary)

      Usage: \(usages.joined(separator: "\n       "))

      \(paragraphs(command.details))

      \(list.joined(separator: "\n"))\(sharedOptions(of: command))
      """
  }

  /// The names of a command's shared options, and where they are explained.
  private static func sharedOptions(of command: any Command.Type) -> String {
    let shared = OptionsTopic.shared.filter { command.options.contains($0) }.map(\.name)
    guard !shared.isEmpty else { return "" }
    let names = TextLayout.wrap(shared.joined(separator: " "), width: width - 2)
    return "\n\nShared options, which 'sq-demo help options' explains:\n"
      + names.map { "  " + $0 }.joined(separator: "\n")
  }

  /// A topic's page.
  static func page(_ topic: any HelpTopic.Type) -> String {
    let sections = topic.sections.map { section in
      (section.heading.map { ["\($0):"] } ?? []) + section.rows.map { row($0, $1) }
    }
    return """
      \(topic.summary)

      \(sections.map { $0.joined(separator: "\n") }.joined(separator: "\n\n"))

      \(paragraphs(topic.details))
      """
  }

  /// The line after an error of usage.
  static func pointer(to command: any Command.Type) -> String {
    "Run 'sq-demo \(command.name) --help' for what it takes."
  }

  private static func paragraphs(_ text: String) -> String {
    text.split(separator: "\n\n")
      .map { TextLayout.wrap($0.split(separator: "\n").joined(separator: " "), width: width) }
      .map { $0.joined(separator: "\n") }
      .joined(separator: "\n\n")
  }

  /// A term and its explanation, side by side, or below each other where the term is long.
  private static func row(_ term: String, _ text: String, indent: Int = 28) -> String {
    let margin = String(repeating: " ", count: indent)
    let lines = TextLayout.wrap(text, width: width - indent).joined(separator: "\n" + margin)
    let start = "  \(term)"
    guard start.count < indent - 1 else { return "\(start)\n\(margin)\(lines)" }
    return start + String(repeating: " ", count: indent - start.count) + lines
  }
}
