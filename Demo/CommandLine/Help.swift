/// A help page about a subject that is not a command.
protocol HelpTopic: Sendable {
  static var name: String { get }
  static var summary: String { get }
  static var sections: [HelpSection] { get }
  static var details: String { get }
}

/// A list of terms and their explanations, with an optional heading.
struct HelpSection: Sendable {
  var heading: String?
  let rows: [(String, String)]
}

/// The pages of the program's help.
enum Help {
  static let topics: [any HelpTopic.Type] = [OptionsTopic.self, StoreTopic.self]

  /// Returns the first page, with the list of commands.
  static func overview(
    _ commands: [any Command.Type], width: Int = TextLayout.width
  ) -> String {
    let list = commands.map { row($0.name, $0.summary, width, indent: 14) }
    let start = """
      sq-demo shows what SequencingOAuth can do, at a server of its own or at yours.

      Usage: sq-demo [COMMAND] [OPTIONS]

      Without a command it starts the tour.
      """
    let end = """
      'sq-demo help COMMAND' explains a command, 'sq-demo help options' the options that many
      commands share, 'sq-demo help stores' where accounts are kept, and 'sq-demo help completion'
      how your shell can complete commands and options. --version prints the version.

      Exit status: 0 done, 1 failed, 2 wrong usage, 3 denied, cancelled or timed out, 4 the newest
      token could not be stored. Standard error has the reason: 'error: CODE: message', which
      'sq-demo explain CODE' explains.

      After Ctrl-C, or another signal that asks a program to end, sq-demo waits until a refresh has
      ended; another signal, half a second later or more, ends it at once.
      """
    return [paragraphs(start, width), list.joined(separator: "\n"), paragraphs(end, width)]
      .joined(separator: "\n\n")
  }

  /// Returns a command's page: its own options, and the names of its shared options.
  static func page(_ command: any Command.Type, width: Int = TextLayout.width) -> String {
    let own = command.options.filter { !OptionsTopic.shared.contains($0) }
    let list = (own + [Option(Option.helpName, help: "Show this page.")]).map {
      row($0.term, $0.help, width)
    }
    let usages = command.forms.map { form in
      (["sq-demo", command.name, form.action].compactMap(\.self) + operands(form)
        + (command.options.isEmpty ? [] : ["[OPTIONS]"])).joined(separator: " ")
    }
    return """
      \(paragraphs(command.summary, width))

      Usage: \(usages.joined(separator: "\n       "))

      \(paragraphs(command.details, width))

      \(list.joined(separator: "\n"))\(sharedOptions(of: command, width))
      """
  }

  private static func operands(_ form: Form) -> [String] {
    form.operands.map { $0 == form.optional ? "[\($0)]" : $0 }
  }

  /// Returns the names of a command's shared options, with the command that explains them.
  private static func sharedOptions(of command: any Command.Type, _ width: Int) -> String {
    let shared = OptionsTopic.shared.filter { command.options.contains($0) }.map(\.name)
    guard !shared.isEmpty else { return "" }
    let names = TextLayout.wrap(shared.joined(separator: " "), width: width - 2)
    return "\n\n" + paragraphs("Shared options, which 'sq-demo help options' explains:", width)
      + "\n" + names.map { "  " + $0 }.joined(separator: "\n")
  }

  static func page(_ topic: any HelpTopic.Type, width: Int = TextLayout.width) -> String {
    let sections = topic.sections.map { section in
      (section.heading.map { [paragraphs("\($0):", width)] } ?? [])
        + section.rows.map { row($0, $1, width) }
    }
    return """
      \(paragraphs(topic.summary, width))

      \(sections.map { $0.joined(separator: "\n") }.joined(separator: "\n\n"))

      \(paragraphs(topic.details, width))
      """
  }

  /// Returns the hint after a usage error.
  static func pointer(to command: any Command.Type) -> String {
    "Run 'sq-demo \(command.name) --help' for its arguments and options."
  }

  private static func paragraphs(_ text: String, _ width: Int) -> String {
    text.split(separator: "\n\n")
      .map { TextLayout.wrap($0.split(separator: "\n").joined(separator: " "), width: width) }
      .map { $0.joined(separator: "\n") }
      .joined(separator: "\n\n")
  }

  /// Returns a term with its explanation beside it, or below it if the term is long.
  private static func row(
    _ term: String, _ text: String, _ width: Int, indent: Int = 28
  ) -> String {
    let indent = width < 60 ? min(indent, 14) : indent
    let margin = String(repeating: " ", count: indent)
    let lines = TextLayout.wrap(text, width: width - indent).joined(separator: "\n" + margin)
    let start = "  \(term)"
    guard start.count < indent - 1 else { return "\(start)\n\(margin)\(lines)" }
    return start + String(repeating: " ", count: indent - start.count) + lines
  }
}
