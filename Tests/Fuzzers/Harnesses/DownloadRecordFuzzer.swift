import FoundationEssentials

@testable import SequencingOAuth
@testable import SequencingOAuthPipes

extension Fuzzer {
  /// A fuzzer for the record next to an interrupted download.
  static let downloadRecord = Fuzzer("download-record") { input in
    // The seeds name the digest of this URL.
    let url = try WebRequest(url: "https://api.example.com/file").url
    guard let record = DownloadRecord(input, url: url) else { return }
    try requireCodable(record, "the record")
    for size in [0, 1, 1_000, Int64.max] {
      let trusted = record.trusted(size)
      try require((0...size).contains(trusted), "\(trusted) bytes of \(size) are trusted")
    }
    guard let again = DownloadRecord(record.json, url: url) else {
      throw Finding(description: "the record is not read when it is written again")
    }
    try require(again == record, "the record reads differently when it is written again")
    // A later request sends the validator back in a header field, and the transport must accept
    // that field.
    var request = WebRequest(url: url)
    request.headers["If-Range"] = record.validator
    try request.validate()
  }
}
