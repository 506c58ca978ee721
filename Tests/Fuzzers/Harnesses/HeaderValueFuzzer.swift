import FoundationEssentials

@testable import SequencingOAuth
@testable import SequencingOAuthPipes

extension Fuzzer {
  /// A fuzzer for the values of `Content-Range`, `Retry-After`, `Date`, `Last-Modified` and `ETag`.
  static let headerValue = Fuzzer("header-value") { input in
    let text = String(decoding: input, as: UTF8.self)
    try checkRange(text)
    try checkValidators(text)
    let now = Date(timeIntervalSince1970: 1_750_000_000)
    if let date = HTTPDate.parse(text, now: now) {
      // A year has four digits, or two digits and is near the present.
      let seconds = date.timeIntervalSince1970
      try require(
        (-62_200_000_000...253_500_000_000).contains(seconds) && seconds == seconds.rounded(),
        "\(text) is \(seconds)")
    }
    for headers in [["Retry-After": text], ["Retry-After": text, "Date": text]] as [HeaderFields] {
      guard let delay = RetryAfter.delay(in: headers, now: now) else { continue }
      try require((.zero ... .seconds(RetryAfter.maximum)).contains(delay), "a delay of \(delay)")
    }
  }

  /// Requires that a request can carry the validator of a download; requests allow fewer values
  /// than responses.
  private static func checkValidators(_ text: String) throws {
    let url = try WebRequest(url: "https://api.example.com/file").url
    let date = "Thu, 31 Dec 2099 23:59:59 GMT"
    for headers in [["ETag": text], ["Last-Modified": text, "Date": date]] as [HeaderFields] {
      let head = WebResponseHead(status: 200, headers: headers)
      guard let record = DownloadRecord(head, url: url, total: nil) else { continue }
      var request = WebRequest(url: url)
      request.headers["If-Range"] = record.validator
      try request.validate()
      try require(DownloadRecord(record.json) == record, "the record is not read again")
    }
  }

  private static func checkRange(_ text: String) throws {
    guard let range = ContentRange(text) else { return }
    let written: String
    switch range {
    case .part(let first, let last, let total):
      try require(0 <= first && first <= last && last < total, "\(range) is impossible")
      written = "bytes \(first)-\(last)/\(total)"
    case .unsatisfied(let total):
      try require(total >= 0, "\(range) is impossible")
      written = "bytes */\(total)"
    }
    try require(ContentRange(written) == range, "\(written) reads differently when written")
  }
}
