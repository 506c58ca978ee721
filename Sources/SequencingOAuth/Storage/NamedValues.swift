import SQBasics
import SQFoundation

/// A value that contains its own name in the store.
protocol NamedValue: Codable, Sendable, Hashable {
  var ownName: String { get }
}

/// Values that are stored under their own names, and encoded as one JSON object.
///
/// Foundation decodes an object's members into a dictionary, in which two Unicode forms of a name
/// are the same key. So if a name is a second Unicode form of an earlier name, its JSON member's
/// name is the name with a NUL and a number at its end.
struct NamedValues<Value: NamedValue>: Sendable, Hashable {
  private var values = TextDictionary<Value>()

  /// The names, in the order of their UTF-8 bytes.
  var names: [String] { values.texts }

  subscript(name: String) -> Value? {
    get { values[name] }
    set { values[name] = newValue }
  }
}

extension NamedValues: Codable {
  init(from decoder: any Decoder) throws {
    let container = try decoder.singleValueContainer()
    for (member, value) in try container.decode([String: Value].self) {
      // Without this check, a value under a wrong name could replace the value under its own name.
      guard Self.is(member, of: value.ownName) else {
        throw DecodingError.dataCorruptedError(
          in: container, debugDescription: "a value is stored under a different name")
      }
      values[value.ownName] = value
    }
  }

  func encode(to encoder: any Encoder) throws {
    var members: [String: Value] = [:]
    for (member, name) in Self.members(of: names) { members[member] = values[name] }
    var container = encoder.singleValueContainer()
    try container.encode(members)
  }

  /// Returns each name with its JSON member's name: the name itself, or the name with a NUL and a
  /// number if it is a second Unicode form of an earlier name.
  static func members(of names: [String]) -> [(member: String, name: String)] {
    var members: Set<String> = []
    return names.map { name in
      var (member, number) = (name, 1)
      while !members.insert(member).inserted {
        number += 1
        member = "\(name)\u{0}\(number)"
      }
      return (member, name)
    }
  }

  /// Returns whether a JSON member's name is a value's own name, perhaps with a NUL and a number.
  static func `is`(_ member: String, of name: String) -> Bool {
    guard member.utf8.starts(with: name.utf8) else { return false }
    let end = member.utf8.dropFirst(name.utf8.count)
    return end.isEmpty || end.first == 0 && Int(String(end.dropFirst()) ?? "") != nil
  }
}

extension AccountRecord: NamedValue {
  var ownName: String { id }
}
