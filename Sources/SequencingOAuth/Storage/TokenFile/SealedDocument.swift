import SQBasics
package import SQFoundation

/// The content of an encrypted token file: one sealed box for each account.
package struct SealedDocument: TokenFileContent {
  let sealer: RecordSealer
  private var boxes = TextDictionary<Data>()

  /// Creates a document without accounts.
  package init(_ sealer: RecordSealer) {
    self.sealer = sealer
  }

  var ids: [String] { boxes.texts }

  func record(_ id: String) throws(SQOAuthError) -> AccountRecord? {
    try boxes[id].map { box throws(SQOAuthError) in try sealer.open(box, id: id) }
  }

  package mutating func save(_ record: AccountRecord) throws(SQOAuthError) {
    boxes[record.id] = try sealer.seal(record)
  }

  mutating func erase(_ id: String) { boxes[id] = nil }

  /// Returns a document with this document's records, sealed with another key.
  ///
  /// The records are not decoded, so a record of a later version of the SDK stays as it is.
  func resealed(_ sealer: RecordSealer) throws(SQOAuthError) -> SealedDocument {
    var document = SealedDocument(sealer)
    for id in ids {
      document.boxes[id] = try boxes[id].map { box throws(SQOAuthError) in
        try sealer.seal(json: try self.sealer.json(in: box, id: id), id: id)
      }
    }
    return document
  }
}

// The file ends with a seal: an encrypted list of the accounts' ids, in the order of their boxes.
// Without the key, no id can be read, and no box can be removed or moved unnoticed.
extension SealedDocument {
  private static let purpose = "file"

  init(_ file: SealedFile, sealer: RecordSealer) throws(SQOAuthError) {
    self.init(sealer)
    let names: Data
    do throws(SQOAuthError) {
      names = try sealer.open(file.seal, as: Self.purpose, with: file.sealed)
    } catch {
      throw error.code == .storeDamaged ? .damagedFile : error
    }
    let ids = try StoredDecoder.whole(
      [String].self, from: names, named: "the list of its accounts")
    guard ids.count == file.boxes.count else { throw .damagedFile }
    for (id, box) in zip(ids, file.boxes) { boxes[id] = box }
  }

  package func encoded() throws(SQOAuthError) -> Data {
    let ids = ids
    let names: Data
    do {
      names = try JSONEncoder().encode(ids)
    } catch {
      throw SQOAuthError(.storeFailed, "the accounts' names cannot be encoded", cause: error)
    }
    var bytes = SealedFile.joined(header: sealer.header, boxes: ids.compactMap { boxes[$0] })
    let seal = try sealer.seal(names, as: Self.purpose, with: bytes)
    SealedFile.append(seal, to: &bytes)
    return bytes
  }
}

/// The layout of an encrypted token file: a header line, then boxes, each after its 4-byte length.
///
/// The last box is the seal over all bytes before it. The parts of a parsed file share its memory,
/// because with many accounts, copying the boxes would take longer than opening the seal.
struct SealedFile {
  let header: Data
  let boxes: [Data]
  /// The bytes that the seal authenticates: all bytes before the seal's length.
  let sealed: Data
  let seal: Data

  /// Splits a file into its parts; `nil` if it does not have exactly this layout.
  init?(_ bytes: Data) {
    guard let end = bytes.firstIndex(of: UInt8(ascii: "\n")) else { return nil }
    header = Data(bytes[..<end])
    var boxes: [Data] = []
    var rest = bytes[end...].dropFirst()
    var start = rest.startIndex
    while !rest.isEmpty {
      start = rest.startIndex
      guard rest.count >= Self.lengthSize else { return nil }
      let count = rest.prefix(Self.lengthSize).reduce(0) { $0 << 8 | Int($1) }
      rest = rest.dropFirst(Self.lengthSize)
      guard count <= rest.count else { return nil }
      boxes.append(rest.prefix(count))
      rest = rest.dropFirst(count)
    }
    guard let seal = boxes.popLast() else { return nil }
    (self.boxes, self.seal) = (boxes, seal)
    sealed = bytes[..<start]
  }

  /// Joins the header and the boxes into the bytes before the seal.
  static func joined(header: Data, boxes: [Data]) -> Data {
    var bytes = Data(capacity: boxes.reduce(header.count + 1) { $0 + lengthSize + $1.count })
    bytes += header
    bytes.append(UInt8(ascii: "\n"))
    for box in boxes { append(box, to: &bytes) }
    return bytes
  }

  /// Appends the length of a sealed box, and then the box.
  static func append(_ box: Data, to bytes: inout Data) {
    withUnsafeBytes(of: UInt32(box.count).bigEndian) { bytes.append(contentsOf: $0) }
    bytes += box
  }

  private static let lengthSize = 4
}
