/// The names of a JSON object's members whose values have names of their own in a store.
///
/// Foundation decodes an object's members into a dictionary, in which two Unicode forms of a name
/// are the same key. So if a name is a second Unicode form of an earlier name, its JSON member's
/// name is the name with a NUL and a number at its end.
enum MemberNames {
  /// Returns each name with its JSON member's name.
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
