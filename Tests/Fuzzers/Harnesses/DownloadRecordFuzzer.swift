import FoundationEssentials

@testable import SequencingOAuth
@testable import SequencingOAuthPipes

extension Fuzzer {
  /// A fuzzer for the record next to an interrupted download.
  static let downloadRecord = Fuzzer("download-record") { input in
    guard let record = DownloadRecord(input) else { return }
    try requireCodable(record, "the record")
    for size in [0, 1, 1_000, Int64.max] {
      let trusted = record.trusted(size)
      try require((0...size).contains(trusted), "\(trusted) bytes of \(size) are trusted")
    }
    guard let again = DownloadRecord(record.json) else {
      throw Finding(description: "the record is not read when it is written again")
    }
    try require(again == record, "the record reads differently when it is written again")
    // A later request sends the validator back in a header field, and the transport must accept
    // that field.
    var request = try WebRequest(url: "https://api.example.com/file")
    request.headers["If-Range"] = record.validator
    try request.validate()
  }
}
