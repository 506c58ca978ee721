import Foundation
import ProgramSupport
import TestSupport
import Testing

@testable import SQBasics
@testable import SQCrypto
@testable import SequencingOAuth
@testable import SequencingOAuthSQLite

/// The JSON of the account "a" as a store in a folder has it, under the store's seal.
struct StoredJSON {
  private let path: String
  private let key: StoreKey?
  private let isDatabase: Bool

  /// Creates a reference to a store; `key` is needed after a change of the key.
  init(_ kind: StoreKind, _ folder: TemporaryFolder, key: StoreKey? = nil) throws {
    path = try kind.path(folder)
    let sealed = [
      StoreKind.encrypted.name: path + ".key", StoreKind.encryptedSQLite.name: path + ".key",
      StoreKind.keyless.name: EncryptedFileTokenStore.keyPath(in: folder.file("deep/er")),
    ]
    self.key = key ?? sealed[kind.name].map { .file($0) }
    isDatabase = kind.needsRoomToRead
  }

  private var bytes: Data { get throws { try Data(contentsOf: URL(filePath: path)) } }

  /// Stores the JSON that a closure returns, with a digest or a seal that fits; returns the JSON
  /// that the store had before.
  @discardableResult
  func rewrite(_ change: (String) -> String = { $0 }) async throws -> String {
    var before = ""
    func changed(_ json: Data) -> Data {
      before = String(decoding: json, as: UTF8.self)
      return Data(change(before).utf8)
    }
    if isDatabase {
      let coding = try await coding()
      let value = try await hexadecimal("SELECT hex(value) FROM accounts WHERE id = 'a'")
      let new = try coding.encode(json: changed(coding.content(of: value, id: "a").json), id: "a")
      try await sql("UPDATE accounts SET value = x'\(Hexadecimal.encode(new))' WHERE id = 'a'")
    } else if key != nil {
      try write(sealed(try #require(SealedFile(bytes)), changed))
    } else {
      let members = try #require(JSONMembers.split(bytes))
      let accounts = try #require(members.first { $0.name == "accounts" }?.value)
      let json = try #require(JSONMembers.split(accounts)?.first { $0.name == "a" }?.value)
      let digest = try #require(members.first { $0.name == "sha256" }?.value)
      var text = try bytes
      text.replace(digest, with: Data("\"\(EmbeddedDigest.placeholder)\"".utf8))
      text.replace(json, with: changed(json))
      try write(EmbeddedDigest.filled(text))
    }
    return before
  }

  /// Changes the JSON of a write-ahead copy in the same way.
  func rewriteCopy(at copy: String, _ change: (String) -> String) async throws {
    let url = URL(filePath: copy)
    var content = try #require(try WriteAheadFrame.content(of: Data(contentsOf: url)))
    let sealer = try await sealer()
    if let sealer { content = try sealer.open(content, as: "landing", with: Data("a".utf8)) }
    content = Data(change(String(decoding: content, as: UTF8.self)).utf8)
    if let sealer { content = try sealer.seal(content, as: "landing", with: Data("a".utf8)) }
    try WriteAheadFrame.framed(content).write(to: url)
  }

  private func sealer() async throws -> RecordSealer? {
    if isDatabase { return try await coding().sealer }
    return try key.map { try RecordSealer($0, header: #require(SealedFile(bytes)).header) }
  }

  private func sealed(_ file: SealedFile, _ changed: (Data) -> Data) throws -> Data {
    let sealer = try RecordSealer(try #require(key), header: file.header)
    let names = try sealer.open(file.seal, as: "file", with: file.sealed)
    let ids = try JSONDecoder().decode([String].self, from: names)
    let boxes = try zip(ids, file.boxes).map { id, box in
      id == "a" ? try sealer.seal(json: changed(sealer.json(in: box, id: id)), id: id) : box
    }
    var bytes = SealedFile.joined(header: file.header, boxes: boxes)
    SealedFile.append(try sealer.seal(names, as: "file", with: bytes), to: &bytes)
    return bytes
  }

  private func write(_ bytes: Data) throws { try TemporaryFolder.write(bytes, to: path) }

  private func coding() async throws -> RecordCoding {
    let header = try await hexadecimal("SELECT hex(value) FROM meta WHERE name = 'key'")
    return try RecordCoding(key, header: header.isEmpty ? nil : header)
  }

  private func hexadecimal(_ statement: String) async throws -> Data {
    let digits = try await sql(statement).trimmingCharacters(in: .whitespacesAndNewlines)
    return try #require(Hexadecimal.decode(digits.lowercased()))
  }

  @discardableResult
  private func sql(_ sql: String) async throws -> String {
    let result = try await ChildProcess.run([
      "sqlite3", "-batch", "-cmd", ".timeout 30000", path, sql,
    ])
    try #require(result.status == 0, "\(result.errors)")
    return result.output
  }
}
