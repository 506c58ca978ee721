import FoundationEssentials

@testable import SequencingOAuth

extension Fuzzer {
  /// `Content-Range`, `Retry-After` and `Date`.
  static let headerValue = Fuzzer("header-value") { input in
    let text = String(decoding: input, as: UTF8.self)
    try checkRange(text)
    let now = Date(timeIntervalSince1970: 1_750_000_000)
    if let date = HTTPDate.parse(text, now: now) {
      // Years have four digits, or the two of one that is near.
      let seconds = date.timeIntervalSince1970
      try require(
        (-62_200_000_000...253_500_000_000).contains(seconds) && seconds == seconds.rounded(),
        "\(text) is \(seconds)")
    }
    for headers in [["Retry-After": text], ["Retry-After": text, "Date": text]] as [HTTPFields] {
      guard let delay = RetryAfter.delay(in: headers, now: now) else { continue }
      try require((.zero ... .seconds(RetryAfter.maximum)).contains(delay), "a delay of \(delay)")
    }
  }

  private static func checkRange(_ text: String) throws {
    guard let range = ContentRange(text) else { return }
    let written: String
    switch range {
    case .part(let first, let last, let total):
      try require(0 <= first && first <= last && last < total, "\(range)")
      written = "bytes \(first)-\(last)/\(total)"
    case .unsatisfied(let total):
      try require(total >= 0, "\(range)")
      written = "bytes */\(total)"
    }
    try require(ContentRange(written) == range, "\(written) reads differently when written")
  }
}
