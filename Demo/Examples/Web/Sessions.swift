import Foundation

/// What the application keeps of one browser.
struct Session: Sendable {
  /// A random text, which the browser has in a cookie.
  private(set) var id = Self.newID()
  private(set) var values: [String: String] = [:]
  /// The id under which it was kept before.
  private(set) var oldID: String?
  private(set) var isChanged = false

  /// Makes the session of a new browser, which is kept once there is something to keep.
  init() {}

  init(id: String, values: [String: String]) {
    (self.id, self.values, oldID) = (id, values, id)
  }

  subscript(name: String) -> String? {
    get { values[name] }
    set { (values[name], isChanged) = (newValue, true) }
  }

  /// Gives the session another id.
  mutating func renew() {
    (id, isChanged) = (Self.newID(), true)
  }

  /// 256 bits of the system's random numbers.
  static func newID() -> String {
    (0..<4).map { _ in String(UInt64.random(in: 0...UInt64.max), radix: 36) }.joined(separator: "-")
  }
}

/// The sessions of all browsers, each a file, for all processes of the application.
///
/// A framework also forgets the old ones.
struct Sessions: Sendable {
  let folder: String

  init(folder: String) throws {
    self.folder = folder
    try FileManager.default.createDirectory(
      atPath: folder, withIntermediateDirectories: true,
      attributes: [.posixPermissions: 0o700])
  }

  /// The session with the id of a cookie, or a new one.
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

  /// The file of a session; `nil` for a text that cannot be an id.
  private func path(_ id: String) -> String? {
    let letters = Set("0123456789abcdefghijklmnopqrstuvwxyz-")
    return id.count < 64 && id.allSatisfy(letters.contains) ? "\(folder)/\(id)" : nil
  }
}
