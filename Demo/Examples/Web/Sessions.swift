import Foundation

/// The data that the application stores for one browser.
struct Session: Sendable {
  /// A random text that the browser stores in a cookie.
  private(set) var id = Self.newID()
  private(set) var values: [String: String] = [:]
  /// The ID under which the session is stored; `nil` for a new session.
  private(set) var oldID: String?
  private(set) var isChanged = false

  /// Creates the session of a new browser; it is stored only after a change.
  init() {}

  init(id: String, values: [String: String]) {
    (self.id, self.values, oldID) = (id, values, id)
  }

  subscript(name: String) -> String? {
    get { values[name] }
    set { (values[name], isChanged) = (newValue, true) }
  }

  /// Gives the session a new ID.
  mutating func renew() {
    (id, isChanged) = (Self.newID(), true)
  }

  /// Returns 256 bits of the system's random numbers as a text.
  static func newID() -> String {
    (0..<4).map { _ in String(UInt64.random(in: 0...UInt64.max), radix: 36) }.joined(separator: "-")
  }
}

/// The sessions of all browsers, one file each, for all processes of the application.
///
/// A framework would also remove old sessions.
struct Sessions: Sendable {
  let folder: String

  init(folder: String) throws {
    self.folder = folder
    try FileManager.default.createDirectory(
      atPath: folder, withIntermediateDirectories: true,
      attributes: [.posixPermissions: 0o700])
  }

  /// Returns the session with the ID of a cookie, or a new one.
  func session(_ id: String?) -> Session {
    guard let id, let path = path(id), let data = FileManager.default.contents(atPath: path),
      let values = try? JSONDecoder().decode([String: String].self, from: data)
    else { return Session() }
    return Session(id: id, values: values)
  }

  func keep(_ session: Session) throws {
    guard session.isChanged, let path = path(session.id) else { return }
    try JSONEncoder().encode(session.values).write(to: URL(filePath: path), options: .atomic)
    if let old = session.oldID, old != session.id, let path = self.path(old) {
      try FileManager.default.removeItem(atPath: path)
    }
  }

  /// Returns the path of a session's file, or `nil` if the text cannot be an ID.
  private func path(_ id: String) -> String? {
    let letters = Set("0123456789abcdefghijklmnopqrstuvwxyz-")
    return id.count < 64 && id.allSatisfy(letters.contains) ? "\(folder)/\(id)" : nil
  }
}
