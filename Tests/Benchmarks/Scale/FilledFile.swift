import FoundationEssentials
import SequencingOAuth

/// Token files with many accounts, written in one step, because each save writes the whole file.
enum FilledFile {
  /// The members of the file except the digest, which `EmbeddedDigest` adds.
  private struct Content: Encodable {
    let version = 1
    let accounts: [String: AccountRecord]
  }

  static func plain(_ path: String, _ count: Int) throws -> FileTokenStore {
    let accounts = Dictionary(uniqueKeysWithValues: records(count).map { ($0.id, $0) })
    let json = try JSONEncoder().encode(Content(accounts: accounts))
    try EmbeddedDigest.appended(to: json).write(to: URL(filePath: path))
    return FileTokenStore(path: path)
  }

  static func sealed(_ path: String, _ count: Int) throws -> EncryptedFileTokenStore {
    let key = StoreKey.raw(Data(0..<32))
    var document = SealedDocument(try RecordSealer.make(key))
    for record in records(count) { try document.save(record) }
    try document.encoded().write(to: URL(filePath: path))
    return EncryptedFileTokenStore(path: path, key: key)
  }

  private static func records(_ count: Int) -> [AccountRecord] {
    (0..<count).map { StoreBenchmarks.record("account \($0)") }
  }
}
