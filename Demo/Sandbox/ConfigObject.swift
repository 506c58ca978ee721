import SQBasics
import SequencingOAuth

/// A JSON object of a configuration file; its errors name the wrong member by a path.
struct ConfigObject: Sendable, Redacted {
  /// The path of the object in the file, such as `clients[0]`; empty for the file's own object.
  let path: String
  let members: [String: JSONValue]

  /// Reads an object.
  ///
  /// - Throws: A usage failure if the value is not an object, or has a member that `names` does not
  ///   contain.
  init(_ value: JSONValue, at path: String, _ names: [String]) throws(Failure) {
    self.path = path
    guard let members = value.object else {
      throw .usage("\(path.isEmpty ? "the file" : path) is \(value.kind) and not an object")
    }
    self.members = members
    for name in members.keys.sorted() where !names.contains(name) {
      throw .usage(
        "\(place(name).onScreen) is unknown" + Suggestion.question(name, among: names)
          + "; the known members are \(names.joined(separator: ", "))")
    }
  }

  /// Returns the path of a member.
  func place(_ name: String) -> String { path.isEmpty ? name : "\(path).\(name)" }

  /// Returns the failure for a member with a wrong value.
  func wrong(_ name: String, _ reason: String) -> Failure { .usage("\(place(name)) \(reason)") }

  /// Returns a text that must not be empty; `nil` if the member is missing.
  func text(_ name: String) throws(Failure) -> String? {
    guard let value = members[name] else { return nil }
    guard let text = value.string else { throw wrongType(name, value, "a text") }
    guard !text.isEmpty else { throw wrong(name, "is empty") }
    return text
  }

  /// Returns a text that must be one of `words`; `nil` if the member is missing.
  func choice(_ name: String, among words: [String]) throws(Failure) -> String? {
    guard let word = try text(name) else { return nil }
    guard words.contains(word) else {
      throw wrong(
        name,
        "is not one of \(words.joined(separator: ", "))" + Suggestion.question(word, among: words))
    }
    return word
  }

  /// Returns the text of a member that must not be missing.
  func required(_ name: String) throws(Failure) -> String {
    guard let text = try text(name) else { throw wrong(name, "is missing") }
    return text
  }

  /// Returns a list of texts; `nil` if the member is missing.
  func texts(_ name: String) throws(Failure) -> [String]? {
    try list(name, "a list of texts")?.enumerated().map { index, value throws(Failure) in
      guard let text = value.string else {
        throw wrong("\(name)[\(index)]", "is \(value.kind) and not a text")
      }
      return text
    }
  }

  /// Returns `true` or `false`; `nil` if the member is missing.
  func flag(_ name: String) throws(Failure) -> Bool? {
    guard let value = members[name] else { return nil }
    guard let flag = value.bool else { throw wrongType(name, value, "true or false") }
    return flag
  }

  /// Returns a whole number in a range; `nil` if the member is missing.
  func number(_ name: String, in range: ClosedRange<Int>) throws(Failure) -> Int? {
    guard let value = members[name] else { return nil }
    guard value.number != nil else { throw wrongType(name, value, "a whole number") }
    guard let number = value.integer, range.contains(number) else {
      throw wrong(
        name, "is not a whole number from \(range.lowerBound) to \(range.upperBound)")
    }
    return number
  }

  /// Returns a list of objects with members of these names; `nil` if the member is missing.
  func objects(_ name: String, _ names: [String]) throws(Failure) -> [ConfigObject]? {
    try list(name, "a list of objects")?.enumerated().map { index, value throws(Failure) in
      try ConfigObject(value, at: "\(place(name))[\(index)]", names)
    }
  }

  private func list(_ name: String, _ expected: String) throws(Failure) -> [JSONValue]? {
    guard let value = members[name] else { return nil }
    guard let list = value.array else { throw wrongType(name, value, expected) }
    return list
  }

  private func wrongType(_ name: String, _ value: JSONValue, _ expected: String) -> Failure {
    wrong(name, "is \(value.kind) and not \(expected)")
  }
}
