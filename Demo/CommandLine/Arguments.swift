/// A form of a command's arguments: an optional action word, then its operands.
struct Form: Sendable, Equatable {
  var action: String?
  var operands: [String] = []
  /// The operand that may be left out.
  var optional: String?
}

/// The words after a command, sorted into its operands and its options.
struct Arguments: Sendable {
  /// The secrets from the environment; they are never among the words.
  let secrets: Secrets
  /// The network settings; their files are read once, before the command is created.
  var network = NetworkOptions()
  /// The action word of the command, if it has one.
  private(set) var action: String?
  /// The words that are not options, in order; an optional operand may be missing.
  private(set) var operands: [String] = []
  private(set) var wantsHelp = false
  private var values: [String: [String]] = [:]

  /// Separates the words of the command line into options and operands.
  ///
  /// - Throws: A usage failure for words that do not fit the forms and options.
  init(
    _ words: [String], forms: [Form] = [Form()], options: [Option], secrets: Secrets = Secrets()
  ) throws(Failure) {
    self.secrets = secrets
    var rest = words[...]
    var plain: [String] = []
    while let word = rest.popFirst() {
      if word == "--help" || word == "-h" {
        wantsHelp = true
        return
      }
      if word.utf8.first == UInt8(ascii: "-"), word.utf8.count > 1 {
        try read(word, &rest, options)
      } else {
        plain.append(word)
      }
    }
    try fit(plain, forms)
  }

  /// Returns the value of an option, or `nil` if the option was not given.
  subscript(option: Option) -> String? { values[option.name]?.first }

  /// Returns all values of an option that may be given more than once, in order.
  func all(_ option: Option) -> [String] { values[option.name] ?? [] }

  /// Returns whether an option was given.
  func contains(_ option: Option) -> Bool { values[option.name] != nil }

  /// Sets the action and the operands from the words that are not options.
  ///
  /// If the first word is the action of a form, this form decides which words are allowed.
  /// Otherwise the form without an action decides.
  private mutating func fit(_ words: [String], _ forms: [Form]) throws(Failure) {
    let named = forms.first { $0.action != nil && $0.action == words.first }
    let form = named ?? forms.first { $0.action == nil } ?? Form()
    let names = form.operands
    action = named?.action
    operands = Array(words.dropFirst(named == nil ? 0 : 1))
    guard operands.count <= names.count else {
      let word = operands[names.count]
      let actions = forms.compactMap(\.action)
      throw .usage(
        named != nil || actions.isEmpty
          ? "unexpected argument \"\(word.onScreen)\""
          : "\"\(word.onScreen)\" is not one of \(actions.joined(separator: ", "))"
            + Suggestion.question(word, among: actions))
    }
    let required = names.filter { $0 != form.optional }
    guard operands.count >= required.count else {
      throw .usage("\(required[operands.count]) is missing")
    }
  }

  private mutating func read(
    _ word: String, _ rest: inout ArraySlice<String>, _ options: [Option]
  ) throws(Failure) {
    // Messages repeat only the name: the value may be a secret.
    // The word is read by bytes, because a "=" and a combining mark form one Character.
    let name = String(Substring(word.utf8.prefix { $0 != UInt8(ascii: "=") }))
    try Secrets.refuseAsArgument(name)
    guard let option = options.first(where: { $0.isCalled(name) }) else {
      throw .usage(
        "unknown option \(name.onScreen)"
          + Suggestion.question(name, among: options.map(\.name) + [Option.helpName]))
    }
    guard option.repeats || values[option.name] == nil else {
      throw .usage("\(option.name) is given twice")
    }
    let attached = word.utf8.dropFirst(name.utf8.count + 1)
    let value = try Self.value(
      of: option, attached: name == word ? nil : String(Substring(attached)), &rest)
    values[option.name, default: []].append(value)
  }

  private static func value(
    of option: Option, attached: String?, _ rest: inout ArraySlice<String>
  ) throws(Failure) -> String {
    guard let placeholder = option.value else {
      guard attached == nil else { throw .usage("\(option.name) takes no value") }
      return ""
    }
    if attached == nil, let next = rest.first, !next.utf8.starts(with: "--".utf8) {
      rest.removeFirst()
      return try nonEmpty(next, option, placeholder)
    }
    // If the next word begins with two dashes, it is an option and not the value. A value that
    // begins with two dashes must be attached with "=".
    return try nonEmpty(attached ?? "", option, placeholder)
  }

  private static func nonEmpty(
    _ value: String, _ option: Option, _ placeholder: String
  ) throws(Failure) -> String {
    guard !value.isEmpty else { throw .usage("\(option.name) needs a value: \(placeholder)") }
    return value
  }
}
