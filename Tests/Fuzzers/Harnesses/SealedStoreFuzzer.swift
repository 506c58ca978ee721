import FoundationEssentials

@testable import SQCrypto
@testable import SequencingOAuth

extension Fuzzer {
  /// A fuzzer for the decoder of the encrypted token file.
  ///
  /// Readable seed files are encrypted with ``key``, a constant that is no secret.
  static let sealedStore = Fuzzer("sealed-store") { input in
    try checkLayout(of: input)
    try checkHeader(Data(input.prefix { $0 != UInt8(ascii: "\n") }))
    let records: [AccountRecord]
    do throws(SQOAuthError) {
      records = try read(input)
    } catch {
      try require(
        [.storeDamaged, .storeTooNew, .wrongPassphrase].contains(error.code)
          && error.description.isHarmless,
        "a damaged file gives \(error)")
      return
    }
    for record in records { try check(record) }
    let format = SealedFormat(key: key)
    let again = try read(try format.encode(try format.decode(input)))
    try require(again == records, "the file reads differently when it is written again")
    try requireTight(input)
  }

  static let key = StoreKey.raw(Data(0..<32))

  private static func read(_ bytes: Data) throws(SQOAuthError) -> [AccountRecord] {
    let document = try SealedFormat(key: key).decode(bytes)
    var records: [AccountRecord] = []
    for id in document.ids.sorted() {
      if let record = try document.record(id) { records.append(record) }
    }
    return records
  }

  private static func checkLayout(of bytes: Data) throws {
    guard let file = SealedFile(bytes) else { return }
    var written = SealedFile.joined(header: file.header, boxes: file.boxes)
    try require(written == file.sealed, "the layout reads differently when it is written again")
    SealedFile.append(file.seal, to: &written)
    try require(written == bytes, "bytes outside of every box")
  }

  private static func checkHeader(_ bytes: Data) throws {
    guard let fields = try? SealHeaderFields(decoding: bytes, version: 1) else { return }
    let encoded = try fields.encoded()
    let again = try SealHeaderFields(decoding: encoded, version: 1)
    let encodedAgain = try again.encoded()
    try require(encodedAgain == encoded, "the header reads differently when it is written again")
    guard let derivation = try? fields.derivation() else { return }
    let derivationAgain = try again.derivation()
    try require(derivation == derivationAgain && derivation.isReasonable, "another derivation")
  }

  /// Requires an error for a flipped bit at many places of the file, and for a truncated file.
  private static func requireTight(_ bytes: Data) throws {
    let step = max(1, bytes.count / 64)
    for position in stride(from: 0, to: bytes.count, by: step) {
      var changed = bytes
      changed[changed.startIndex + position] ^= 1 << (position % 8)
      try require(
        (try? read(changed)) == nil, "no error after a change of byte \(position)")
    }
    for end in [0, 1, bytes.count / 2, bytes.count - 1] {
      try require((try? read(Data(bytes.prefix(end)))) == nil, "no error after a cut at \(end)")
    }
  }
}
