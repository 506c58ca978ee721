import SQBasics
import SQCrypto
import SQFoundation

/// A write-ahead copy: a refreshed record that the store does not have yet.
///
/// It contains a digest of the record that it replaces. The digest shows whether the copy is still
/// current. If the store now has a different record, a later refresh or another sign-in has
/// replaced the old record, and this copy is outdated.
struct WriteAheadCopy: Decodable, Sendable {
  let record: AccountRecord
  private let replaces: String

  init(_ record: AccountRecord, after old: AccountRecord) {
    self.record = record
    replaces = Self.mark(of: old)
  }

  /// Encodes the copy as JSON.
  func json() throws(SQOAuthError) -> Data {
    let record = try record.json()
    var writer = JSONWriter()
    writer.begin()
    writer.member(CodingKeys.record, json: record)
    writer.member(CodingKeys.replaces, replaces)
    return writer.end()
  }

  private enum CodingKeys: CodingKey {
    case record
    case replaces
  }

  /// Returns whether the copy is the successor of a stored record, from the same sign-in.
  func follows(_ stored: AccountRecord) -> Bool {
    replaces == Self.mark(of: stored) && record.id == stored.id && record.session == stored.session
  }

  private static func mark(of record: AccountRecord) -> String {
    let token = record.token
    return Hexadecimal.encode(
      Digest.sha256("\(token.accessToken)\n\(token.refreshToken ?? "")"))
  }
}

/// The bytes of a write-ahead copy's file: a line with the content's length and digest, and the
/// content.
///
/// The file is created larger than its content, and a process may have been killed while it wrote.
/// Only content that matches its digest is used.
enum WriteAheadFrame {
  private static let version = "1"
  private static let name = "SequencingOAuth landing"

  static func framed(_ content: Data) -> Data {
    Data("\(name) \(version) \(content.count) \(digest(content))\n".utf8) + content
  }

  /// Returns the content, or `nil` if the bytes are incomplete or damaged.
  ///
  /// - Throws: ``SQOAuthError/Code/storeTooNew`` if a later version of the SDK wrote the file.
  static func content(of bytes: Data) throws(SQOAuthError) -> Data? {
    guard let end = bytes.prefix(200).firstIndex(of: UInt8(ascii: "\n")) else { return nil }
    let fields = String(decoding: bytes[..<end], as: UTF8.self).split(separator: " ")
    guard fields.count >= 3, fields[0...1].joined(separator: " ") == name else { return nil }
    guard fields[2] == version else {
      throw .tooNew("version \(String(fields[2].prefix(20)).printable) of its format")
    }
    guard fields.count == 5, let count = Int(fields[3]), count >= 0,
      count <= bytes.endIndex - end - 1
    else { return nil }
    let content = Data(bytes[(end + 1)...].prefix(count))
    return digest(content) == fields[4] ? content : nil
  }

  private static func digest(_ content: Data) -> String {
    Hexadecimal.encode(Digest.sha256(content))
  }
}
