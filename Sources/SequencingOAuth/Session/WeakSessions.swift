/// The sessions of some modules, for as long as a session exists.
///
/// A session may outlive its module: a refresh that was sent continues, and a token that the store
/// could not save is kept until the store has it.
struct WeakSessions {
  private struct Reference {
    weak let session: TokenSession?
  }

  private var references: [Reference] = []
  /// The number of references at which those to released sessions are removed.
  private var limit = 16

  /// The number of references, also to sessions that no longer exist.
  var count: Int { references.count }

  /// The sessions that exist; the caller must release them outside its locks.
  var all: [TokenSession] { references.compactMap(\.session) }

  /// Adds a session, and returns sessions that the caller must release outside its locks.
  mutating func add(_ session: TokenSession) -> [TokenSession] {
    var existing: [TokenSession] = []
    if references.count >= limit {
      existing = all
      references = existing.map { Reference(session: $0) }
      limit = max(16, 2 * references.count)
    }
    references.append(Reference(session: session))
    return existing
  }
}
