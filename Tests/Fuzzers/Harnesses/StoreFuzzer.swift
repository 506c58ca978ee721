import FoundationEssentials

@testable import SQBasics
@testable import SequencingOAuth

extension Fuzzer {
  /// A fuzzer for the decoder of the plain token file.
  ///
  /// A crash, a disk or a person may have changed such a file.
  static let store = Fuzzer("store") { input in
    let format = TokenDocument.Format()
    let document: TokenDocument
    do throws(SQOAuthError) {
      document = try format.decode(input)
    } catch {
      try require(
        [.storeDamaged, .storeTooNew].contains(error.code) && error.description.isHarmless,
        "a damaged file gives \(error)")
      return
    }
    let bytes = format.encode(document)
    let again = try format.decode(bytes)
    let bytesAgain = format.encode(again)
    try require(bytesAgain == bytes, "the file reads differently when it is written again")
    try require(
      document.ids.sorted() == again.ids.sorted(),
      "the accounts differ when the file is written again")
    for id in document.ids {
      guard let record = try stored(id, in: document) else { continue }
      try require(record.id == id, "the record of \(id) has the ID \(record.id)")
      let recordAgain = try stored(id, in: again)
      try require(record == recordAgain, "a record reads differently")
      try check(record)
    }
    try checkChanges(of: document)
  }

  /// Returns a record of a file; `nil` if the record is damaged or of a later version.
  private static func stored(
    _ id: String, in document: TokenDocument
  ) throws -> AccountRecord? {
    do throws(SQOAuthError) {
      return try document.record(id)
    } catch {
      try require(
        [.storeDamaged, .storeTooNew].contains(error.code) && error.description.isHarmless,
        "a damaged record gives \(error)")
      return nil
    }
  }

  static func check(_ record: AccountRecord) throws {
    try requireCodable(record, "the record")
    // A record from any file must be safe to print and to use in a schedule.
    try require(record.description.isHarmless, "it shows as \(record.description)")
    try require(record.token.description.isHarmless, "it shows as \(record.token.description)")
    let now = Date(timeIntervalSinceReferenceDate: 800_000_000)
    let schedule = TokenSchedule(record.token, knownAt: now, isRenewable: true, jitter: 0.5)
    if let expiry = record.token.expirationDate, expiry <= now {
      try require(!schedule.isUsable(at: now), "an expired token is handed out")
    }
  }

  private static func checkChanges(of document: TokenDocument) throws {
    var document = document
    let record = AccountRecord(id: "new", clientID: "client", token: SQToken(accessToken: "a"))
    try document.save(record)
    let saved = try document.record("new")
    try require(saved == record, "a record is not there after it was saved")
    for id in document.ids { document.erase(id) }
    try require(document.ids.isEmpty, "a record is there after it was erased")
  }
}
