import SQBasics
import SQFoundation

/// The files in all drives, kept only in memory.
struct DriveState: Sendable, Redacted {
  /// The owner of a drive: a user, or a client without a user.
  enum Owner: Hashable, Sendable {
    case user(String)
    case client(String)

    init(_ grant: TokenLedger.Grant) {
      self = grant.user.map(Self.user) ?? .client(grant.clientID)
    }
  }

  private var drives: [Owner: [SandboxFile]] = [:]
  private var lastNumber = 1000
  /// The secret that page tokens depend on, so that clients cannot forge them.
  let pageSecret = Crypto.secret("")

  /// Creates a drive, with a few sample documents if `withDocuments` is `true`.
  ///
  /// Does nothing if the drive exists.
  mutating func open(_ owner: Owner, withDocuments: Bool, at now: Date) {
    guard drives[owner] == nil else { return }
    drives[owner] = []
    for document in withDocuments ? SampleDocument.all : [] {
      add(
        document.title, description: document.about, type: document.type,
        content: Data(document.text.utf8), to: owner,
        at: now.addingTimeInterval(-86_400 * document.ageInDays))
    }
  }

  /// Returns an owner's files in the order in which they were added.
  func files(of owner: Owner) -> [SandboxFile] { drives[owner] ?? [] }

  func file(_ id: String, of owner: Owner) -> SandboxFile? {
    drives[owner]?.first { $0.id == id }
  }

  func bytes(of owner: Owner) -> Int {
    files(of: owner).reduce(0) { $0 + $1.content.count }
  }

  @discardableResult
  mutating func add(
    _ title: String, description: String? = nil, type: String, content: Data,
    to owner: Owner, at now: Date
  ) -> SandboxFile {
    lastNumber += 1
    let file = SandboxFile(
      number: lastNumber, title: title, description: description, contentType: type,
      content: content, created: now)
    drives[owner, default: []].append(file)
    return file
  }

  /// Changes a file and its modification date, and returns the changed file.
  ///
  /// Returns `nil` if there is no such file.
  mutating func change(
    _ id: String, of owner: Owner, at now: Date, _ change: (inout SandboxFile) -> Void
  ) -> SandboxFile? {
    guard let index = drives[owner]?.firstIndex(where: { $0.id == id }) else { return nil }
    if var file = drives[owner]?[index] {
      change(&file)
      file.modified = now
      drives[owner]?[index] = file
    }
    return drives[owner]?[index]
  }

  mutating func remove(_ id: String, of owner: Owner) -> Bool {
    guard let index = drives[owner]?.firstIndex(where: { $0.id == id }) else { return false }
    drives[owner]?.remove(at: index)
    return true
  }
}
